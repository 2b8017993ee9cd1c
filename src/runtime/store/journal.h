// The agent's durable state: a keyed table of records in SQLite, changed by whole transactions only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace abacus {

/// What was committed is there after a crash of the process or of the host; what was not, is not. The file is
/// DIRECTORY/journal.db with its write-ahead log beside it (WAL, synchronous=FULL). Each row carries BLAKE2b-128 of
/// kind, key and value, and each transaction its number, which CommitMark keeps beside it: what was damaged or cut off
/// is found at open or load, and the files are left as they are.
///
/// Threads: none of its own; any thread may use it, one at a time. GroupCommitter is the usual owner.
class Journal {
 public:
  static constexpr std::size_t kMaxKeyBytes = 1024;
  static constexpr std::size_t kMaxValueBytes = 16 * 1024 * 1024;

  /// One record. `kind` and `key` together name it; what they mean is the caller's affair.
  struct Row {
    std::uint16_t kind = 0;
    Bytes key;
    Bytes value;

    bool operator==(const Row&) const = default;
  };

  /// Sets the record's value, or erases the record if `value` is nullopt (erasing what is not there is no error).
  struct Change {
    std::uint16_t kind = 0;
    Bytes key;
    std::optional<Bytes> value;
  };

  /// Opens the journal in `directory`, creating both if need be, and migrates an older schema forward. Holds the
  /// directory's lock as long as it lives. Errors: `already_exists` if another agent uses the directory (its process id
  /// is named); `denied` if it cannot be written; `corrupt` if a file is damaged or no SQLite database, or holds less
  /// than what was committed; `unsupported` if a newer version of the program wrote it; `invalid` if it is somebody
  /// else's database.
  static Result<Journal> open(const std::filesystem::path& directory);

  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  /// All rows, ordered by kind, then bytewise by key. Errors: `corrupt`, naming the row, if a checksum does not fit.
  Result<std::vector<Row>> load();

  /// Applies the changes in their order, all or none; durable on return. Errors: `invalid` for a key or value over the
  /// limits; `exhausted` if the disk is full; others as SQLite reports them. After an error the table is as before the
  /// call and the journal can be used again.
  Status commit(std::span<const Change> changes);

 private:
  struct Connection;

  explicit Journal(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace abacus
