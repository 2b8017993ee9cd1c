// Picks a handshake's real cause out of what OpenSSL, the socket and the certificate check left behind.
#include "runtime/net/tls_errors.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>

namespace abacus {
namespace {

Error make(ErrorCode code, std::string message) { return {code, std::move(message)}; }

Error version_mismatch(const std::string& peer, const HandshakeNotes& notes) {
  std::string offered = notes.peer_protocols.empty() ? "" : fmt::format(" (it offers {})", notes.peer_protocols);
  return make(
      ErrorCode::unsupported,
      fmt::format("{} and this agent have no protocol in common{}: this version speaks {} and {} over TLS 1.3, and "
                  "serves {} only at an organisation's authority; upgrade the older of the two",
                  peer, offered, alpn_name(Protocol::control), alpn_name(Protocol::bulk), alpn_name(Protocol::enrol)));
}

Error from_reason(int reason, const HandshakeNotes& notes, const TlsContext& tls, const std::string& peer) {
  switch (reason) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return make(ErrorCode::denied,
                  fmt::format("{} does not accept this node's certificate: it does not trust organisation {}; "
                              "join its organisation, or let the two organisations pair",
                              peer, tls.own_name()));
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return make(ErrorCode::denied,
                  fmt::format("{} refuses this node's certificate as expired or not yet valid: compare "
                              "the clocks, or enrol again with `abacus join HOST:PORT --token TOKEN`",
                              peer));
    case SSL_R_NO_APPLICATION_PROTOCOL:
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION: return version_mismatch(peer, notes);
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return make(ErrorCode::denied,
                  fmt::format("no certificate was shown between this agent and {}; only enrolled nodes "
                              "may speak",
                              peer));
    case SSL_R_HTTP_REQUEST:
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_BAD_PACKET:
      return make(ErrorCode::invalid, fmt::format("{} does not speak TLS: is it an Abacus agent?", peer));
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return make(ErrorCode::unavailable, fmt::format("{} broke the connection off", peer));
    default: return make(ErrorCode::unavailable, fmt::format("TLS with {} failed: {}", peer, openssl_reason()));
  }
}

}  // namespace

Error describe_tls_failure(const TlsContext& tls, const HandshakeNotes& notes, int ssl_error, int system_error,
                           const std::string& peer) {
  if (!notes.refusal.empty()) {
    ERR_clear_error();
    return make(ErrorCode::denied, fmt::format("refused {}: {}", peer, notes.refusal));
  }
  if (unsigned long error = ERR_peek_last_error(); ssl_error == SSL_ERROR_SSL && error != 0) {
    Error described = from_reason(ERR_GET_REASON(error), notes, tls, peer);
    ERR_clear_error();
    return described;
  }
  ERR_clear_error();
  const char* reason = system_error != 0 ? std::strerror(system_error) : "broken off";
  return make(ErrorCode::unavailable, fmt::format("the connection with {} broke: {}", peer, reason));
}

}  // namespace abacus
