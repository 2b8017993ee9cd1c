// Certificates are made and read with OpenSSL, and their fields checked one by one.
#include "runtime/net/certificate.h"

#include <fmt/chrono.h>
#include <openssl/pem.h>

#include <ctime>

#include "base/check.h"
#include "runtime/net/openssl.h"

namespace abacus {
namespace {

std::time_t to_time_t(WallTime time) { return static_cast<std::time_t>(time.ns / 1'000'000'000); }

std::string name_entry(const X509_NAME* name, int nid) {
  int at = X509_NAME_get_index_by_NID(name, nid, -1);
  if (at < 0) return {};
  unsigned char* text = nullptr;
  int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  if (size < 0) return {};
  std::string entry(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
  OPENSSL_free(text);
  for (char& c : entry) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';  // a stranger's name may end in a log
  }
  return entry;
}

Result<WallTime> to_wall(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return fail(ErrorCode::corrupt, "a certificate's date is malformed");
  std::int64_t seconds_since_1970 = timegm(&parts);
  // Clamp to what integer nanoseconds can hold (years 1970 to 2262).
  constexpr std::int64_t kLast = INT64_MAX / 1'000'000'000;
  return WallTime{std::clamp<std::int64_t>(seconds_since_1970, 0, kLast) * 1'000'000'000};
}

Asn1ObjectPtr attributes_object() {
  Asn1ObjectPtr object(OBJ_txt2obj(kAttributesOid, 1));
  CHECK_MSG(object != nullptr, "OpenSSL rejects the attributes' object identifier");
  return object;
}

Result<NodeAttributes> read_attributes(const X509* x509) {
  Asn1ObjectPtr object = attributes_object();
  int at = X509_get_ext_by_OBJ(x509, object.get(), -1);
  if (at < 0) return NodeAttributes{};
  const ASN1_OCTET_STRING* data = X509_EXTENSION_get_data(X509_get_ext(x509, at));
  return decode_attributes({ASN1_STRING_get0_data(data), static_cast<std::size_t>(ASN1_STRING_length(data))});
}

std::string serial_hex(const X509* x509) {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(x509);
  return to_hex({ASN1_STRING_get0_data(serial), static_cast<std::size_t>(ASN1_STRING_length(serial))});
}

void set_name(X509_NAME* name, const CertificateContent& content) {
  auto add = [&](const char* field, const std::string& text) {
    X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                               static_cast<int>(text.size()), -1, 0);
  };
  add("O", content.organisation_name);
  add("CN", to_hex(content.subject));
}

void set_serial(X509* x509) {
  std::array<std::uint8_t, 16> random;
  fill_random(random);
  random[0] = static_cast<std::uint8_t>((random[0] & 0x7f) | 0x40);  // positive, and always 16 bytes
  ASN1_STRING_set(X509_get_serialNumber(x509), random.data(), static_cast<int>(random.size()));
}

bool add_extension(X509* x509, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, x509, nullptr, nullptr, 0);
  X509ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(x509, extension.get(), -1) == 1;
}

bool add_attributes(X509* x509, const NodeAttributes& attributes) {
  Bytes der = encode_attributes(attributes);
  Asn1StringPtr data(ASN1_OCTET_STRING_new());
  ASN1_OCTET_STRING_set(data.get(), der.data(), static_cast<int>(der.size()));
  Asn1ObjectPtr object = attributes_object();
  X509ExtensionPtr extension(X509_EXTENSION_create_by_OBJ(nullptr, object.get(), 0, data.get()));
  return extension && X509_add_ext(x509, extension.get(), -1) == 1;
}

bool add_extensions(X509* x509, X509* issuer, const CertificateContent& content) {
  bool done = add_extension(x509, issuer, NID_subject_key_identifier, "hash") &&
              add_extension(x509, issuer, NID_authority_key_identifier, "keyid:always");
  if (content.authority) {
    return done && add_extension(x509, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           add_extension(x509, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  return done && add_extension(x509, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(x509, issuer, NID_key_usage, "critical,digitalSignature") &&
         add_extension(x509, issuer, NID_ext_key_usage, "serverAuth,clientAuth") &&
         add_attributes(x509, content.attributes);
}

}  // namespace

Result<Certificate> Certificate::from_x509(X509* x509) {
  Certificate result;
  EVP_PKEY* key = X509_get0_pubkey(x509);
  std::size_t size = result.key_.size();
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, result.key_.data(), &size) != 1 || size != result.key_.size()) {
    return fail(ErrorCode::corrupt, "the certificate holds no Ed25519 key");
  }
  const X509_NAME* subject = X509_get_subject_name(x509);
  if (std::string named = name_entry(subject, NID_commonName); named != to_hex(result.key_)) {
    return fail(ErrorCode::corrupt, "the certificate is made out to '{}' but holds the key {}", named,
                to_hex(result.key_));
  }
  result.organisation_name_ = name_entry(subject, NID_organizationName);
  result.serial_ = serial_hex(x509);
  result.authority_ = X509_check_ca(x509) == 1;
  TRY(result.not_before_, to_wall(X509_get0_notBefore(x509)));
  TRY(result.not_after_, to_wall(X509_get0_notAfter(x509)));
  TRY(result.attributes_, read_attributes(x509));
  X509_up_ref(x509);
  result.x509_ = std::shared_ptr<X509>(x509, X509_free);
  return result;
}

Result<Certificate> Certificate::from_pem(std::string_view pem) {
  X509Ptr x509(PEM_read_bio_X509(bio_over(pem).get(), nullptr, nullptr, nullptr));
  if (!x509) return fail(ErrorCode::corrupt, "no PEM certificate: {}", openssl_reason());
  return from_x509(x509.get());
}

Result<Certificate> Certificate::from_der(BytesView der) {
  const unsigned char* at = der.data();
  X509Ptr x509(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (!x509 || at != der.data() + der.size()) {
    return fail(ErrorCode::corrupt, "no DER certificate: {}", openssl_reason());
  }
  return from_x509(x509.get());
}

std::string Certificate::to_pem() const {
  BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), x509_.get());
  return bio_text(bio.get());
}

Bytes Certificate::to_der() const {
  unsigned char* data = nullptr;
  int size = i2d_X509(x509_.get(), &data);
  CHECK(size > 0);
  Bytes der(data, data + size);
  OPENSSL_free(data);
  return der;
}

bool Certificate::signed_by(const Ed25519Key& issuer) const {
  return X509_verify(x509_.get(), to_openssl_public(issuer).get()) == 1;
}

Status Certificate::check_dates(WallTime now, std::string_view whose) const {
  if (now < not_before_) {
    return fail(ErrorCode::denied, "{} is valid only from {}, and it is {} here: check this machine's clock", whose,
                to_date_string(not_before_), to_date_string(now));
  }
  if (now > not_after_) {
    return fail(ErrorCode::denied, "{} expired on {}: {}", whose, to_date_string(not_after_),
                authority_ ? "make a new organisation with `abacus org init` and let its nodes join again"
                           : "enrol the node again with `abacus join HOST:PORT --token TOKEN`");
  }
  return {};
}

Result<Certificate> sign_certificate(const KeyPair& issuer, const Certificate* issuer_certificate,
                                     const CertificateContent& content) {
  TRY_STATUS(check_attributes(content.attributes));
  if (content.organisation_name.empty() || content.organisation_name.size() > 64) {
    return fail(ErrorCode::invalid, "an organisation's name has 1 to 64 bytes, '{}' has {}", content.organisation_name,
                content.organisation_name.size());
  }
  X509Ptr x509(X509_new());
  X509_set_version(x509.get(), X509_VERSION_3);
  set_serial(x509.get());
  ASN1_TIME_set(X509_getm_notBefore(x509.get()), to_time_t(content.not_before));
  ASN1_TIME_set(X509_getm_notAfter(x509.get()), to_time_t(content.not_after));
  set_name(X509_get_subject_name(x509.get()), content);
  X509* issuing = issuer_certificate != nullptr ? issuer_certificate->x509() : x509.get();
  X509_set_issuer_name(x509.get(), X509_get_subject_name(issuing));
  X509_set_pubkey(x509.get(), to_openssl_public(content.subject).get());
  if (!add_extensions(x509.get(), issuing, content) || X509_sign(x509.get(), to_openssl(issuer).get(), nullptr) == 0) {
    return fail(ErrorCode::internal, "OpenSSL cannot make the certificate: {}", openssl_reason());
  }
  return Certificate::from_x509(x509.get());
}

std::string key_to_pem(const KeyPair& key) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), to_openssl(key).get(), nullptr, nullptr, 0, nullptr, nullptr);
  return bio_text(bio.get());
}

Result<KeyPair> key_from_pem(std::string_view pem) {
  EvpKeyPtr key(PEM_read_bio_PrivateKey(bio_over(pem).get(), nullptr, nullptr, nullptr));
  Ed25519Key seed;
  std::size_t size = seed.size();
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_private_key(key.get(), seed.data(), &size) != 1) {
    return fail(ErrorCode::corrupt, "no PEM text of an Ed25519 private key: {}", openssl_reason());
  }
  return KeyPair::from_seed(seed);
}

std::string to_date_string(WallTime time) { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(to_time_t(time))); }

}  // namespace abacus
