// How many transactions a journal made durable, kept beside it: a log that was cut off behind its back is found out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "runtime/posix/fd.h"

namespace abacus {

/// SQLite takes a write-ahead log whose tail does not fit its checksums for one that was torn by a crash, and goes on
/// without it; it cannot know that the tail had been flushed. The mark is written after each commit and not flushed:
/// after a loss of power it may lag behind, never run ahead, and so never tells of a loss that was none.
///
/// DIRECTORY/journal.mark holds the number (8 bytes, little-endian) and BLAKE2b-128 of it.
class CommitMark {
 public:
  /// None if there is no such file. Errors: `corrupt` for one that is damaged; others as code_of_errno.
  static Result<std::optional<std::uint64_t>> read(const std::filesystem::path& directory);

  /// Opens the file for writing, and makes it durable with this number.
  static Result<CommitMark> open(const std::filesystem::path& directory, std::uint64_t commits);

  Status write(std::uint64_t commits);

 private:
  explicit CommitMark(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace abacus
