// Who needs which content: durable lists of digests, one file an owner.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace abacus {

/// DIRECTORY/OWNER-IN-HEX holds BLAKE2b-256 of the rest, then the owner's digests in order. Not thread-safe: the
/// ContentStore guards it.
class PinBook {
 public:
  static constexpr std::size_t kOwnerBytesMax = 100;

  /// Reads all lists. Errors: `corrupt`, naming the file, for a list that does not fit its digest.
  static Result<PinBook> open(const std::filesystem::path& directory);

  /// Adds digests to an owner's list; durable on return. Errors: `invalid` for an owner of 0 or more than
  /// kOwnerBytesMax bytes; others as code_of_errno, the list being then as before.
  Status add(std::string_view owner, std::span<const Digest> digests);

  /// Forgets an owner and the list; no error if there is none.
  Status remove(std::string_view owner);

  /// Is the digest on any list?
  bool pinned(const Digest& digest) const { return counts_.contains(digest); }

  std::vector<std::string> owners() const;

 private:
  explicit PinBook(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path file_of(std::string_view owner) const;
  void count(const std::set<Digest>& digests, int step);

  std::filesystem::path directory_;
  std::map<std::string, std::set<Digest>, std::less<>> lists_;
  std::map<Digest, int> counts_;  ///< In how many lists; never zero.
};

}  // namespace abacus
