// Enrolment tokens: a text that lets a machine join an organisation, and the authority's book of those it gave out.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "runtime/net/attributes.h"

namespace abacus {

constexpr std::size_t kTokenSecretBytes = 24;

/// What the joiner holds: whom to trust, and the secret that lets it in. Anyone who has the text can use it.
struct EnrolmentToken {
  OrgId org;
  std::array<std::uint8_t, kTokenSecretBytes> secret{};

  /// One word of letters, digits, '-' and '_', beginning with "abacus1_".
  std::string to_string() const;

  /// Inverse of to_string; white space around it is ignored. Errors: `invalid`, also when a character was lost or
  /// changed on the way (the text holds a checksum).
  static Result<EnrolmentToken> parse(std::string_view text);
};

/// What a token allows.
struct TokenGrant {
  std::uint32_t uses = 1;  ///< How many different nodes may join by it.
  Duration valid_for = hours(24);
  NodeAttributes attributes;  ///< What the authority vouches for of these nodes; the marks `vouched` are ignored.
};

/// Tokens in a file: only hashes of the secrets, with what they allow, until when, and who used them. Several processes
/// may work on one book. A node that used a token may use it again (its certificate may have been lost on the way).
class TokenBook {
 public:
  explicit TokenBook(std::filesystem::path file) : file_(std::move(file)) {}

  /// Enters a new token. Errors: `invalid` for a grant without uses or time, or with unsound attributes; `exhausted`
  /// for more than 10000 live tokens; those of the file.
  Result<EnrolmentToken> make(const OrgId& org, const TokenGrant& grant, WallTime now);

  /// Uses a token for a node, durably, and gives the attributes that the authority vouches for.
  /// Errors: `denied` (unknown, expired since, used up), those of the file.
  Result<NodeAttributes> redeem(BytesView secret, const NodeId& node, WallTime now);

 private:
  struct Entry;
  Result<std::vector<Entry>> load() const;
  Status save(const std::vector<Entry>& entries) const;

  std::filesystem::path file_;
};

}  // namespace abacus
