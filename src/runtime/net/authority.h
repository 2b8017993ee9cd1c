// An organisation's authority: its key, and the certificates and enrolment tokens that it gives out.
#pragma once

#include <filesystem>

#include "runtime/net/identity.h"
#include "runtime/net/token.h"

namespace abacus {

/// Lives in a folder: org.key (mode 0600), org.crt, tokens.json, issued.log (one line a certificate). The folder may be
/// an agent's data directory. Each call reads or writes files; one thread, though several processes may share the
/// folder.
class OrgAuthority {
 public:
  /// Makes a new organisation in `dir`. Errors: `already_exists` (there is one), `invalid` (the name), those of files.
  static Result<OrgAuthority> create(const std::filesystem::path& dir, const std::string& name, WallTime now);

  /// Errors: `not_found` (no authority here: how to make one), `denied` (permissions, expired), `corrupt`.
  static Result<OrgAuthority> load(const std::filesystem::path& dir, WallTime now);

  /// True when `dir` holds an organisation's key.
  static bool lives_in(const std::filesystem::path& dir);

  OrgId id() const { return key_.org_id(); }
  const Certificate& certificate() const { return certificate_; }

  /// Signs a node's certificate, valid from an hour ago (clocks differ) for `validity`, at most as long as the
  /// organisation's own, and enters it in issued.log. Errors: `invalid` (attributes), those of files.
  Result<Certificate> issue(const NodeId& node, const NodeAttributes& attributes, WallTime now,
                            Duration validity = kNodeValidity) const;

  /// See TokenBook::make.
  Result<EnrolmentToken> make_token(const TokenGrant& grant, WallTime now);

  /// Lets a node join by a token. What the token fixes is vouched for; what else the node says of itself is passed on
  /// as self-declared. Errors: see TokenBook::redeem; `invalid` when the node asks for another value than the token
  /// fixes.
  Result<Certificate> enrol(BytesView token_secret, const NodeId& node, const NodeAttributes& requested, WallTime now);

 private:
  OrgAuthority(std::filesystem::path dir, KeyPair key, Certificate certificate);
  std::filesystem::path dir_;
  KeyPair key_;
  Certificate certificate_;
  TokenBook tokens_;
};

/// Makes `data_dir` a member at once, for who holds the authority: node key, certificates, everything vouched for.
/// Errors: those of load_or_make_node_key, issue and save_certificates.
Result<NodeIdentity> enrol_directly(const OrgAuthority& authority, const std::filesystem::path& data_dir,
                                    NodeAttributes attributes, WallTime now);

}  // namespace abacus
