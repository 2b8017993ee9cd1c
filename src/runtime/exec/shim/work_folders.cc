// Making, reusing and giving up folders.
#include "runtime/exec/shim/work_folders.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace abacus::shim {
namespace {

constexpr mode_t kMode = 0700;

/// Reads the directory without a library's buffer: two entries, "." and "..", of 24 bytes each, and then the end.
bool pristine(const std::string& name) {
  int fd = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  alignas(8) char entries[256];
  struct stat info {};
  long bytes = ::syscall(SYS_getdents64, fd, entries, sizeof entries);
  bool same = bytes == 48 && ::syscall(SYS_getdents64, fd, entries, sizeof entries) == 0;
  same = same && ::fstat(fd, &info) == 0 && (info.st_mode & 07777) == kMode && info.st_uid == ::geteuid();
  ::close(fd);
  return same;
}

}  // namespace

void WorkFolders::provide(const std::string& name) {
  while (!spares_.empty()) {
    std::string spare = std::move(spares_.back());
    spares_.pop_back();
    if (::renameat2(AT_FDCWD, spare.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0) return;
    bool there = errno == EEXIST;
    janitor_.remove(spare);
    if (there) return;
  }
  ::mkdir(name.c_str(), kMode);
}

void WorkFolders::remove(const std::string& name) {
  if (spares_.size() < spares_max_ && pristine(name)) {
    spares_.push_back(name);
  } else {
    janitor_.remove(name);
  }
}

}  // namespace abacus::shim
