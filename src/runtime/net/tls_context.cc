// The settings of both sides, and the callback that judges a peer's certificate chain.
#include "runtime/net/tls_context.h"

#include <algorithm>
#include <ctime>

#include "base/check.h"

namespace abacus {
namespace {

constexpr std::size_t kReadBufferBytes = 64 * 1024;  // held only while a read is under way (SSL_MODE_RELEASE_BUFFERS)

WallTime wall_now() { return {static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000}; }

/// Who a refused certificate says it is. Nothing of it is proven.
std::string claimed_identity(X509* leaf) {
  auto certificate = Certificate::from_x509(leaf);
  if (!certificate) return "a certificate that is none of ours (" + certificate.error().message + ")";
  return fmt::format("node {}, which claims organisation '{}'", certificate->node_id().short_string(),
                     certificate->organisation_name());
}

/// Why, and the TLS alert to answer with, for a certificate that failed OpenSSL's chain check.
std::string chain_refusal(int error, X509* leaf, const std::string& trusted) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: {
      auto certificate = Certificate::from_x509(leaf);
      if (!certificate) break;
      auto dates = certificate->check_dates(wall_now(), "its certificate");
      return claimed_identity(leaf) + ": " + (dates ? "its organisation's certificate expired" : dates.error().message);
    }
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: return claimed_identity(leaf) + ": the signature is forged";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return claimed_identity(leaf) + ": not signed by an organisation trusted here (" + trusted + ")";
    default: break;
  }
  return claimed_identity(leaf) + ": " + X509_verify_cert_error_string(error);
}

HandshakeNotes& notes_of(const SSL* ssl) { return *static_cast<HandshakeNotes*>(SSL_get_app_data(ssl)); }

bool refuse(X509_STORE_CTX* store, HandshakeNotes& notes, int error, std::string reason) {
  notes.refusal = std::move(reason);
  X509_STORE_CTX_set_error(store, error);
  return false;
}

std::string protocol_list(const unsigned char* in, unsigned in_size) {
  std::string list;
  for (unsigned at = 0; at < in_size && at + in[at] < in_size; at += in[at] + 1u) {
    if (!list.empty()) list += ", ";
    for (unsigned i = 1; i <= in[at]; ++i) list += in[at + i] < 0x20 || in[at + i] > 0x7e ? '?' : char(in[at + i]);
  }
  return list;
}

}  // namespace

TlsContext::TlsContext() : ctx_(SSL_CTX_new(TLS_method())) {
  CHECK_MSG(ctx_ != nullptr, "OpenSSL cannot make a TLS context");
  SSL_CTX_set_min_proto_version(ctx_.get(), TLS1_3_VERSION);
  CHECK(SSL_CTX_set_ciphersuites(ctx_.get(), "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1);
  CHECK(SSL_CTX_set1_sigalgs_list(ctx_.get(), "ed25519") == 1);
  CHECK(SSL_CTX_set1_groups_list(ctx_.get(), "X25519") == 1);
  SSL_CTX_set_options(ctx_.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(ctx_.get(), 0);
  SSL_CTX_set_session_cache_mode(ctx_.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(ctx_.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(ctx_.get(), 1);
  SSL_CTX_set_default_read_buffer_len(ctx_.get(), kReadBufferBytes);
  SSL_CTX_set_verify(ctx_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx_.get(), &TlsContext::verify_peer, this);
  SSL_CTX_set_alpn_select_cb(ctx_.get(), &TlsContext::choose_protocol, this);
}

std::shared_ptr<TlsContext> TlsContext::for_member(const NodeIdentity& identity,
                                                   const std::vector<Certificate>& paired) {
  std::shared_ptr<TlsContext> self(new TlsContext);
  CHECK(SSL_CTX_use_certificate(self->ctx_.get(), identity.certificate.x509()) == 1);
  CHECK_MSG(SSL_CTX_use_PrivateKey(self->ctx_.get(), to_openssl(identity.key).get()) == 1,
            "the node's key does not match its certificate");
  self->trust(identity.organisation);
  self->own_name_ = self->trusted_names_;
  for (const Certificate& organisation : paired) self->trust(organisation);
  return self;
}

std::shared_ptr<TlsContext> TlsContext::for_enrolment(const OrgId& org) {
  std::shared_ptr<TlsContext> self(new TlsContext);
  self->enrolling_with_ = org;
  self->trusted_names_ = org.short_string();
  return self;
}

void TlsContext::trust(const Certificate& organisation) {
  X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx_.get()), organisation.x509());
  trusted_.push_back(organisation);
  if (!trusted_names_.empty()) trusted_names_ += ", ";
  trusted_names_ += fmt::format("'{}' {}", organisation.organisation_name(), organisation.org_id().short_string());
}

SslPtr TlsContext::accept_side(HandshakeNotes& notes) const {
  SslPtr ssl(SSL_new(ctx_.get()));
  CHECK_MSG(ssl != nullptr, "out of memory");
  SSL_set_app_data(ssl.get(), &notes);
  SSL_set_accept_state(ssl.get());
  return ssl;
}

SslPtr TlsContext::connect_side(HandshakeNotes& notes, Protocol protocol) const {
  SslPtr ssl(SSL_new(ctx_.get()));
  CHECK_MSG(ssl != nullptr, "out of memory");
  SSL_set_app_data(ssl.get(), &notes);
  SSL_set_connect_state(ssl.get());
  std::string_view name = alpn_name(protocol);
  Bytes wire(1, static_cast<std::uint8_t>(name.size()));
  wire.insert(wire.end(), name.begin(), name.end());
  CHECK(SSL_set_alpn_protos(ssl.get(), wire.data(), static_cast<unsigned>(wire.size())) == 0);
  return ssl;
}

int TlsContext::choose_protocol(SSL* ssl, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                                unsigned in_size, void* self) {
  const auto& served = static_cast<TlsContext*>(self)->served_;
  for (unsigned at = 0; at < in_size && at + in[at] < in_size; at += in[at] + 1u) {
    std::string_view offered(reinterpret_cast<const char*>(in + at + 1), in[at]);
    auto match = std::find_if(served.begin(), served.end(), [&](Protocol p) { return alpn_name(p) == offered; });
    if (match == served.end()) continue;
    *out = in + at + 1;
    *out_size = in[at];
    // The choice falls before the certificate request is sent, so only enrolment goes without one.
    if (*match == Protocol::enrol) SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
    return SSL_TLSEXT_ERR_OK;
  }
  notes_of(ssl).peer_protocols = protocol_list(in, in_size);
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

int TlsContext::verify_peer(X509_STORE_CTX* store, void* self) {
  const auto* context = static_cast<const TlsContext*>(self);
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  HandshakeNotes& notes = notes_of(ssl);
  bool accepted =
      context->enrolling_with_ ? context->verify_enroller(store, notes) : context->verify_member(store, notes);
  return accepted ? 1 : 0;
}

bool TlsContext::verify_member(X509_STORE_CTX* store, HandshakeNotes& notes) const {
  X509* leaf = X509_STORE_CTX_get0_cert(store);
  if (X509_verify_cert(store) != 1) {
    int error = X509_STORE_CTX_get_error(store);
    return refuse(store, notes, error, chain_refusal(error, leaf, trusted_names_));
  }
  auto certificate = Certificate::from_x509(leaf);
  if (!certificate) return refuse(store, notes, X509_V_ERR_CERT_REJECTED, certificate.error().message);
  if (certificate->is_authority()) {
    return refuse(store, notes, X509_V_ERR_CERT_REJECTED, "an organisation's certificate in place of a node's");
  }
  return true;
}

bool TlsContext::verify_enroller(X509_STORE_CTX* store, HandshakeNotes& notes) const {
  X509* leaf = X509_STORE_CTX_get0_cert(store);
  auto certificate = Certificate::from_x509(leaf);
  if (!certificate || !certificate->signed_by(enrolling_with_->bytes)) {
    return refuse(store, notes, X509_V_ERR_CERT_UNTRUSTED,
                  claimed_identity(leaf) + ": not a member of the token's organisation " + trusted_names_);
  }
  if (auto dates = certificate->check_dates(wall_now(), "its certificate"); !dates) {
    return refuse(store, notes, X509_V_ERR_CERT_HAS_EXPIRED, claimed_identity(leaf) + ": " + dates.error().message);
  }
  X509_STORE_CTX_set_error(store, X509_V_OK);
  return true;
}

Result<PeerIdentity> TlsContext::peer_identity(const SSL* ssl) const {
  X509* leaf = SSL_get0_peer_certificate(ssl);
  if (leaf == nullptr) return fail(ErrorCode::denied, "the peer showed no certificate");
  TRY(Certificate certificate, Certificate::from_x509(leaf));
  if (enrolling_with_) {
    return PeerIdentity{certificate.node_id(), *enrolling_with_, certificate.attributes(), certificate.not_after()};
  }
  STACK_OF(X509)* chain = SSL_get0_verified_chain(ssl);
  if (chain == nullptr || sk_X509_num(chain) < 2) return fail(ErrorCode::denied, "the peer's chain was not verified");
  TRY(Certificate root, Certificate::from_x509(sk_X509_value(chain, sk_X509_num(chain) - 1)));
  for (const Certificate& organisation : trusted_) {
    if (root.key() != organisation.key()) continue;
    return PeerIdentity{certificate.node_id(), organisation.org_id(), certificate.attributes(),
                        certificate.not_after()};
  }
  return fail(ErrorCode::denied, "the peer's certificate is of no trusted organisation");
}

Result<Protocol> TlsContext::agreed_protocol(const SSL* ssl) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  for (Protocol protocol : kProtocols) {
    if (alpn_name(protocol) == std::string_view(reinterpret_cast<const char*>(name), size)) return protocol;
  }
  return fail(ErrorCode::unsupported, "the peer named no protocol (ALPN), want {}", alpn_name(Protocol::control));
}

}  // namespace abacus
