// A list is a file that begins with the digest of its rest; an unfinished replacement is dropped at open.
#include "runtime/data/pin_book.h"

#include <fcntl.h>

#include <algorithm>

#include "runtime/data/chunk.h"
#include "runtime/posix/fd.h"

namespace abacus {
namespace {

constexpr std::size_t kFileBytesMax = 256 << 20;

Bytes encode_list(const std::set<Digest>& digests) {
  Bytes body;
  body.reserve(digests.size() * Digest::kSize);
  for (const Digest& digest : digests) body.insert(body.end(), digest.bytes.begin(), digest.bytes.end());
  Digest check = digest_of(body);
  body.insert(body.begin(), check.bytes.begin(), check.bytes.end());
  return body;
}

Result<std::set<Digest>> decode_list(BytesView bytes) {
  auto digest_at = [&](std::size_t at) {
    Digest digest;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), Digest::kSize, digest.bytes.begin());
    return digest;
  };
  bool whole = bytes.size() >= Digest::kSize && bytes.size() % Digest::kSize == 0;
  if (!whole || digest_of(bytes.subspan(Digest::kSize)) != digest_at(0)) {
    return fail(ErrorCode::corrupt, "it does not fit its own digest");
  }
  std::set<Digest> digests;
  for (std::size_t at = Digest::kSize; at < bytes.size(); at += Digest::kSize) digests.insert(digest_at(at));
  return digests;
}

Result<std::set<Digest>> read_list(const std::filesystem::path& file) {
  TRY(Fd fd, open_at(AT_FDCWD, file.string(), O_RDONLY | O_NOFOLLOW));
  TRY(Bytes bytes, read_up_to(fd.get(), kFileBytesMax, fmt::format("cannot read {}", file.string())));
  auto digests = decode_list(bytes);
  if (!digests) return fail(digests.error().in("the list of needed content " + file.string()));
  return digests;
}

}  // namespace

Result<PinBook> PinBook::open(const std::filesystem::path& directory) {
  PinBook book(directory);
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(directory, error)) {
    auto owner = from_hex(item.path().filename().string());
    if (!owner) {  // An unfinished replacement; the list itself is beside it.
      std::filesystem::remove(item.path(), error);
      continue;
    }
    TRY(std::set<Digest> digests, read_list(item.path()));
    book.count(digests, 1);
    book.lists_.emplace(as_text(*owner), std::move(digests));
  }
  if (error) return fail(code_of_errno(error.value()), "cannot list {}: {}", directory.string(), error.message());
  return book;
}

Status PinBook::add(std::string_view owner, std::span<const Digest> digests) {
  if (owner.empty() || owner.size() > kOwnerBytesMax) {
    return fail(ErrorCode::invalid, "an owner's name of {} bytes: want 1 to {}", owner.size(), kOwnerBytesMax);
  }
  auto found = lists_.find(owner);
  std::set<Digest> list = found == lists_.end() ? std::set<Digest>() : found->second;
  std::set<Digest> added;
  for (const Digest& digest : digests) {
    if (list.insert(digest).second) added.insert(digest);
  }
  if (added.empty() && found != lists_.end()) return {};
  TRY_STATUS(replace_file(file_of(owner), encode_list(list)));
  count(added, 1);
  lists_.insert_or_assign(std::string(owner), std::move(list));
  return {};
}

Status PinBook::remove(std::string_view owner) {
  auto found = lists_.find(owner);
  if (found == lists_.end()) return {};
  std::error_code error;
  std::filesystem::remove(file_of(owner), error);
  if (error) {
    return fail(code_of_errno(error.value()), "cannot remove {}: {}", file_of(owner).string(), error.message());
  }
  count(found->second, -1);
  lists_.erase(found);
  return {};
}

std::vector<std::string> PinBook::owners() const {
  std::vector<std::string> names;
  for (const auto& [owner, list] : lists_) names.push_back(owner);
  return names;
}

std::filesystem::path PinBook::file_of(std::string_view owner) const { return directory_ / to_hex(as_bytes(owner)); }

void PinBook::count(const std::set<Digest>& digests, int step) {
  for (const Digest& digest : digests) {
    int& in_lists = counts_[digest];
    in_lists += step;
    if (in_lists == 0) counts_.erase(digest);
  }
}

}  // namespace abacus
