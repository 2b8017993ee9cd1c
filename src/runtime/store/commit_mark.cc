// One small write in place, of less than a sector.
#include "runtime/store/commit_mark.h"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace abacus {
namespace {

constexpr std::size_t kNumberBytes = 8, kChecksumBytes = 16;
using Content = std::array<std::uint8_t, kNumberBytes + kChecksumBytes>;

std::filesystem::path file_in(const std::filesystem::path& directory) { return directory / "journal.mark"; }

Content content_of(std::uint64_t commits) {
  Content content{};
  for (std::size_t i = 0; i < kNumberBytes; ++i) content[i] = static_cast<std::uint8_t>(commits >> (8 * i));
  crypto_generichash(content.data() + kNumberBytes, kChecksumBytes, content.data(), kNumberBytes, nullptr, 0);
  return content;
}

}  // namespace

Result<std::optional<std::uint64_t>> CommitMark::read(const std::filesystem::path& directory) {
  const std::filesystem::path file = file_in(directory);
  auto fd = open_at(AT_FDCWD, file.string(), O_RDONLY, 0);
  if (!fd && fd.error().code == ErrorCode::not_found) return std::optional<std::uint64_t>();
  if (!fd) return fail(fd.error());
  TRY(Bytes stored, read_at(fd->get(), 0, sizeof(Content) + 1, file.string()));
  std::uint64_t commits = 0;
  for (std::size_t i = 0; i < kNumberBytes && i < stored.size(); ++i) commits |= std::uint64_t{stored[i]} << (8 * i);
  const Content expected = content_of(commits);
  if (!std::equal(stored.begin(), stored.end(), expected.begin(), expected.end())) {
    return fail(ErrorCode::corrupt, "{} is damaged: its checksum does not fit", file.string());
  }
  return std::optional(commits);
}

Result<CommitMark> CommitMark::open(const std::filesystem::path& directory, std::uint64_t commits) {
  TRY(Fd fd, open_at(AT_FDCWD, file_in(directory).string(), O_RDWR | O_CREAT, 0600));
  CommitMark mark(std::move(fd));
  TRY_STATUS(mark.write(commits));
  TRY(Fd parent, open_at(AT_FDCWD, directory.string(), O_RDONLY | O_DIRECTORY, 0));
  if (::fsync(mark.fd_.get()) != 0 || ::fsync(parent.get()) != 0) return fail_errno("cannot flush the journal's mark");
  return mark;
}

Status CommitMark::write(std::uint64_t commits) {
  const Content content = content_of(commits);
  if (::pwrite(fd_.get(), content.data(), content.size(), 0) == static_cast<ssize_t>(content.size())) return {};
  return fail_errno("cannot write the journal's mark");
}

}  // namespace abacus
