// The exit records of one lease on disk: an append-only file that survives the shim, the agent and a power cut.
//
// Each entry is `u32 length, u32 checksum, bytes`, the bytes being one wire frame content: Ended stores a record,
// Forget withdraws it. The records end at the first entry that is short or whose checksum (FNV-1a, 32 bit) is wrong: a
// torn write, or the zeros with which the file is filled ahead so that a sync need not touch the file system's journal.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/exec/wire.h"

namespace abacus {

using RecordMap = std::map<AttemptId, ExitRecord>;

/// What the file's bytes still hold. Pure; accepts any bytes. `good_bytes`, if given, receives the intact length.
RecordMap parse_records(std::string_view bytes, std::size_t* good_bytes = nullptr);

/// Reads the file at `path` (relative to the working directory, or absolute); a missing file holds no records.
RecordMap read_records(const std::string& path);

/// The writing side; one writer a file. Not thread-safe.
class RecordLog {
 public:
  RecordLog() = default;
  RecordLog(const RecordLog&) = delete;
  RecordLog& operator=(const RecordLog&) = delete;
  ~RecordLog();

  /// Opens or creates `path`, cuts off a torn tail, and makes the name itself durable. False with errno set on failure.
  bool open(const std::string& path);

  /// The records the file held when opened, and since.
  const RecordMap& records() const { return records_; }

  /// Adds to the next commit.
  void add(const AttemptId& attempt, const ExitRecord& record);

  /// Withdraws a record; needs no commit, a withdrawal that is lost is only repeated.
  void forget(const AttemptId& attempt);

  /// Writes and syncs everything added. True once it is on disk; false with errno set (it stays pending).
  bool commit();

 private:
  bool fill_ahead(std::uint64_t needed);
  bool compact();

  std::string path_;
  int fd_ = -1;
  std::string pending_;
  RecordMap records_;
  std::size_t entries_ = 0;   ///< In the file, withdrawn ones included.
  std::uint64_t end_ = 0;     ///< Where the next entry goes.
  std::uint64_t filled_ = 0;  ///< Up to where the file is filled ahead.
};

}  // namespace abacus
