// Loops around read, pread and write that go on after EINTR, and errno as error codes.
#include "runtime/posix/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace abacus {
namespace {

constexpr std::size_t kReadStep = 256 * 1024;

/// `read_some(buffer, size, done)` is read(2) or pread(2) for the bytes after the first `done`.
template <class ReadSome>
Result<Bytes> read_loop(std::size_t limit, std::string_view what, ReadSome read_some) {
  Bytes bytes;
  std::size_t done = 0;
  while (done < limit) {
    bytes.resize(done + std::min(kReadStep, limit - done));
    ssize_t count = read_some(bytes.data() + done, bytes.size() - done, done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(what);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

ErrorCode code_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case EEXIST:
    case ENOTEMPTY: return ErrorCode::already_exists;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE: return ErrorCode::exhausted;
    case ELOOP:
    case ENAMETOOLONG: return ErrorCode::invalid;
    case EAGAIN:
    case EBUSY: return ErrorCode::unavailable;
    default: return ErrorCode::internal;
  }
}

tl::unexpected<Error> fail_errno(std::string_view what) {
  int number = errno;
  return fail(code_of_errno(number), "{}: {}", what, std::generic_category().message(number));
}

Result<Fd> open_at(int directory, const std::string& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::openat(directory, path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return fail_errno(fmt::format("cannot open '{}'", path));
  return Fd(fd);
}

Status write_all(int fd, BytesView bytes, std::string_view what) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(what);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<Bytes> read_up_to(int fd, std::size_t limit, std::string_view what) {
  return read_loop(limit, what, [&](std::uint8_t* to, std::size_t size, std::size_t) { return ::read(fd, to, size); });
}

Result<Bytes> read_at(int fd, std::uint64_t offset, std::size_t limit, std::string_view what) {
  return read_loop(limit, what, [&](std::uint8_t* to, std::size_t size, std::size_t done) {
    return ::pread(fd, to, size, static_cast<off_t>(offset + done));
  });
}

Status sync_directory(const std::filesystem::path& directory) {
  TRY(Fd fd, open_at(AT_FDCWD, directory.string(), O_RDONLY | O_DIRECTORY));
  if (::fsync(fd.get()) != 0) return fail_errno(fmt::format("cannot sync the directory {}", directory.string()));
  return {};
}

Status replace_file(const std::filesystem::path& path, BytesView bytes) {
  std::string fresh = path.string() + ".new";
  {
    TRY(Fd fd, open_at(AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    TRY_STATUS(write_all(fd.get(), bytes, fmt::format("cannot write {}", fresh)));
    if (::fdatasync(fd.get()) != 0) return fail_errno(fmt::format("cannot sync {}", fresh));
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return fail_errno(fmt::format("cannot rename {} into place", fresh));
  return sync_directory(path.parent_path());
}

}  // namespace abacus
