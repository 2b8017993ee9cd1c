// One node's TLS settings: TLS 1.3 only, Ed25519 only, both sides show certificates of trusted organisations.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/net/alpn.h"
#include "runtime/net/identity.h"
#include "runtime/net/openssl.h"

namespace abacus {

/// What the handshake found out beyond OpenSSL's error codes; one per connection, reached through SSL's app data.
struct HandshakeNotes {
  std::string refusal;         ///< Why this side refused the peer's certificate; empty when it did not.
  std::string peer_protocols;  ///< As a server: the protocols that the peer offered when none was served here.
};

/// Shared by every connection of a transport. Used from one thread; outlives its connections (they hold it).
class TlsContext {
 public:
  /// A member of an organisation: shows `identity`, accepts peers of its organisation and of `paired` ones.
  static std::shared_ptr<TlsContext> for_member(const NodeIdentity& identity, const std::vector<Certificate>& paired);

  /// A node without certificate that enrols at a member of organisation `org`; dials only.
  static std::shared_ptr<TlsContext> for_enrolment(const OrgId& org);

  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// From now on inbound connections may choose `protocol`.
  void serve(Protocol protocol) { served_.insert(protocol); }

  /// A new connection's state, without file descriptor. `notes` must outlive it.
  SslPtr accept_side(HandshakeNotes& notes) const;
  SslPtr connect_side(HandshakeNotes& notes, Protocol protocol) const;

  /// The peer's identity after a finished handshake. Errors: `denied` when it showed no certificate.
  Result<PeerIdentity> peer_identity(const SSL* ssl) const;

  /// What the handshake agreed on. Errors: `unsupported` when the peer named no protocol.
  static Result<Protocol> agreed_protocol(const SSL* ssl);

  /// The organisation that signed the certificate shown here ("'Name' 1234abcd"); empty when none is shown.
  const std::string& own_name() const { return own_name_; }

 private:
  TlsContext();
  void trust(const Certificate& organisation);
  bool verify_member(X509_STORE_CTX* store, HandshakeNotes& notes) const;
  bool verify_enroller(X509_STORE_CTX* store, HandshakeNotes& notes) const;
  static int verify_peer(X509_STORE_CTX* store, void* self);
  static int choose_protocol(SSL* ssl, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                             unsigned in_size, void* self);

  SslCtxPtr ctx_;
  std::set<Protocol> served_;
  std::vector<Certificate> trusted_;
  std::optional<OrgId> enrolling_with_;
  std::string trusted_names_, own_name_;
};

}  // namespace abacus
