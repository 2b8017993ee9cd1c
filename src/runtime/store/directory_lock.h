// One agent a data directory: an flock on DIRECTORY/lock that the kernel drops when its holder dies.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "runtime/posix/fd.h"

namespace abacus {

/// Held from acquire() until destruction. Not inherited by programs that the holder executes.
class DirectoryLock {
 public:
  /// Takes the lock, without waiting, and writes this process's id into the file. Errors: `already_exists` with the
  /// holder's process id if another holder lives (this process included); `denied` if the directory is not writable;
  /// others as code_of_errno.
  static Result<DirectoryLock> acquire(const std::filesystem::path& directory);

 private:
  explicit DirectoryLock(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace abacus
