// The lock file holds its owner's process id, for the error that a second opener gets.
#include "runtime/store/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace abacus {
namespace {

constexpr std::size_t kPidTextLimit = 32;

std::string holder_of(int fd) {
  auto text = read_at(fd, 0, kPidTextLimit, "lock");
  std::string pid = text ? std::string(as_text(*text)) : "";
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid.empty() ? "an unknown process" : "process " + pid;
}

}  // namespace

Result<DirectoryLock> DirectoryLock::acquire(const std::filesystem::path& directory) {
  std::string path = (directory / "lock").string();
  auto opened = open_at(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
  if (!opened) {
    return fail(opened.error().in(
        fmt::format("the data directory {} is not usable; it must be writable for this user", directory.string())));
  }
  Fd fd = std::move(*opened);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno(fmt::format("cannot lock {}", path));
    return fail(ErrorCode::already_exists,
                "the data directory {} is in use by {}; stop that agent or choose another directory",
                directory.string(), holder_of(fd.get()));
  }
  if (::ftruncate(fd.get(), 0) != 0) return fail_errno(fmt::format("cannot write {}", path));
  TRY_STATUS(write_all(fd.get(), as_bytes(fmt::format("{}\n", ::getpid())), fmt::format("cannot write {}", path)));
  return DirectoryLock(std::move(fd));
}

}  // namespace abacus
