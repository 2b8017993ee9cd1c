// Small files that hold identity: read whole, written whole and durably, secrets readable by their owner only.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/bytes.h"

namespace abacus {

/// The file's text, at most 1 MiB. Errors: `not_found`, `denied`, `invalid` when larger.
Result<std::string> read_small_file(const std::filesystem::path& path);

/// read_small_file for secrets. Errors as there, and `denied` when anyone but the owner can read or write the file.
Result<std::string> read_secret_file(const std::filesystem::path& path);

/// Replaces the file in one step (temporary file, fsync, rename, fsync of the folder). Permission bits `mode`.
/// Errors: `denied`, `internal`, naming the path.
Status write_small_file(const std::filesystem::path& path, std::string_view text, unsigned mode);

/// Makes a folder (and its parents) with mode 0700 when it is not there. Errors: `denied`, `internal`.
Status make_private_folder(const std::filesystem::path& path);

/// Holds an exclusive advisory lock on a file, from construction to destruction.
class FileLock {
 public:
  /// Waits for the lock; creates the file when it is missing. Errors: `denied`, `internal`.
  static Result<FileLock> take(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace abacus
