// Who a node is: its key, the certificate that its organisation signed, and the organisation's own certificate.
#pragma once

#include <filesystem>

#include "runtime/net/certificate.h"

namespace abacus {

constexpr Duration kNodeValidity = hours(24 * 365);
constexpr Duration kOrgValidity = hours(24 * 3650);

/// Everything a node needs to speak to its peers. Copyable; wipes its copy of the secret key when destroyed.
struct NodeIdentity {
  KeyPair key;
  Certificate certificate;   ///< Signed by `organisation` over `key`.
  Certificate organisation;  ///< Self-signed.

  NodeId node_id() const { return key.node_id(); }
  OrgId org_id() const { return organisation.org_id(); }
  const NodeAttributes& attributes() const { return certificate.attributes(); }
};

/// A peer as its certificate, checked in the TLS handshake, names it.
struct PeerIdentity {
  NodeId node;
  OrgId org;
  NodeAttributes attributes;
  WallTime valid_until;  ///< The end of its certificate.
};

/// Signs with a node's key for stated purposes (see KeyPair::sign).
class Signer {
 public:
  explicit Signer(const KeyPair& key) : key_(key) {}
  NodeId node_id() const { return key_.node_id(); }
  Ed25519Signature sign(std::string_view context, BytesView bytes) const { return key_.sign(context, bytes); }

 private:
  KeyPair key_;
};

/// Loads node.key, node.crt and org.crt from a data directory and checks that they fit together at `now`.
/// Errors: `not_found` (a file is missing: how to join), `denied` (permissions, dates), `corrupt` (not what the file
/// should hold, or files that do not belong together). Each names the file and the remedy.
Result<NodeIdentity> load_identity(const std::filesystem::path& data_dir, WallTime now);

/// The key in node.key; makes the folder and a fresh key (mode 0600) when there is none. Errors as load_identity.
Result<KeyPair> load_or_make_node_key(const std::filesystem::path& data_dir);

/// Writes node.crt and org.crt (mode 0644) beside an existing node.key. Errors: `denied`, `internal`, and `corrupt`
/// when the certificate is not for that key or not by that organisation.
Status save_certificates(const std::filesystem::path& data_dir, const Certificate& node,
                         const Certificate& organisation);

}  // namespace abacus
