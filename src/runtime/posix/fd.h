// File descriptors that close themselves, whole reads and writes, and operating-system errors as Results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace abacus {

/// Owns one descriptor, or none (-1). Closing ignores errors: what must be durable is synced before.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  /// Gives the descriptor away; the caller closes it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// The code that tells a caller what to do about an errno value: ENOENT and ENOTDIR are `not_found`, EEXIST and
/// ENOTEMPTY `already_exists`, EACCES, EPERM and EROFS `denied`, ENOSPC, EDQUOT, EFBIG, EMFILE and ENFILE `exhausted`,
/// ELOOP and ENAMETOOLONG `invalid`, EAGAIN and EBUSY `unavailable`, anything else `internal`.
ErrorCode code_of_errno(int number);

/// `return fail_errno("cannot open {}", path)` style: "WHAT: strerror text". Reads errno, so call it at once.
tl::unexpected<Error> fail_errno(std::string_view what);

/// openat(2) with O_CLOEXEC added. Errors: as code_of_errno, naming `path`.
Result<Fd> open_at(int directory, const std::string& path, int flags, unsigned mode = 0);

/// Writes all of `bytes` at the descriptor's position. Errors: as code_of_errno; a part may have been written.
Status write_all(int fd, BytesView bytes, std::string_view what);

/// Reads until `limit` bytes or the end of the file, from the descriptor's position.
Result<Bytes> read_up_to(int fd, std::size_t limit, std::string_view what);

/// As read_up_to, but from `offset`, without moving the descriptor's position.
Result<Bytes> read_at(int fd, std::uint64_t offset, std::size_t limit, std::string_view what);

/// Makes the names in a directory durable (fsync of the directory).
Status sync_directory(const std::filesystem::path& directory);

/// Writes `bytes` to `path` so that after a crash the file has either its old or its new content, whole and durable:
/// "PATH.new", fdatasync, rename, fsync of the directory. One writer a path at a time.
Status replace_file(const std::filesystem::path& path, BytesView bytes);

}  // namespace abacus
