// X.509 v3 certificates over Ed25519 keys: an organisation's (self-signed) and the nodes' that it signs.
#pragma once

#include <memory>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "runtime/net/attributes.h"
#include "runtime/net/keys.h"

struct x509_st;  // OpenSSL's X509

namespace abacus {

/// A parsed certificate; immutable, cheap to copy, safe to share between threads.
class Certificate {
 public:
  /// Errors: `corrupt` for what is no certificate over an Ed25519 key, or whose subject does not name its own key.
  static Result<Certificate> from_pem(std::string_view pem);
  static Result<Certificate> from_der(BytesView der);
  /// From OpenSSL's object; takes no ownership, keeps a reference of its own. Errors as from_der.
  static Result<Certificate> from_x509(x509_st* x509);

  std::string to_pem() const;
  Bytes to_der() const;

  const Ed25519Key& key() const { return key_; }
  NodeId node_id() const { return {key_}; }
  OrgId org_id() const { return {key_}; }
  /// The organisation's name, as the certificate has it; only a label, the key is what counts.
  const std::string& organisation_name() const { return organisation_name_; }
  /// True for an organisation's certificate: it may sign others.
  bool is_authority() const { return authority_; }
  const NodeAttributes& attributes() const { return attributes_; }
  WallTime not_before() const { return not_before_; }
  WallTime not_after() const { return not_after_; }
  /// Lower-case hex.
  const std::string& serial() const { return serial_; }
  x509_st* x509() const { return x509_.get(); }

  /// True when the owner of `issuer` signed this certificate. Says nothing about dates.
  bool signed_by(const Ed25519Key& issuer) const;

  /// Errors: `denied`, saying since or until when and what to do. `whose` begins the sentence ("node certificate x").
  Status check_dates(WallTime now, std::string_view whose) const;

 private:
  Certificate() = default;
  std::shared_ptr<x509_st> x509_;
  Ed25519Key key_{};
  std::string organisation_name_, serial_;
  bool authority_ = false;
  NodeAttributes attributes_;
  WallTime not_before_, not_after_;
};

/// What a new certificate says.
struct CertificateContent {
  Ed25519Key subject{};           ///< The subject's public key; its hex is the subject's common name.
  std::string organisation_name;  ///< At most 64 bytes.
  bool authority = false;         ///< An organisation's certificate.
  NodeAttributes attributes;      ///< For nodes.
  WallTime not_before, not_after;
};

/// Signs a certificate. `issuer_certificate` is null for an organisation's own (self-signed). The serial number is
/// random (127 bits). Errors: `invalid` for attributes or a name out of bounds.
Result<Certificate> sign_certificate(const KeyPair& issuer, const Certificate* issuer_certificate,
                                     const CertificateContent& content);

/// The private key as PEM (PKCS #8), and back. Errors: `corrupt` when the text holds no Ed25519 key.
std::string key_to_pem(const KeyPair& key);
Result<KeyPair> key_from_pem(std::string_view pem);

/// "2027-01-31 14:05 UTC".
std::string to_date_string(WallTime time);

}  // namespace abacus
