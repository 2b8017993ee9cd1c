// Every row carries a checksum of its kind, key and value; the file is checked as a whole at open, and so is that no
// transaction is missing.
#include "runtime/store/journal.h"

#include <sodium.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "runtime/store/commit_mark.h"
#include "runtime/store/directory_lock.h"
#include "runtime/store/schema.h"
#include "runtime/store/sqlite.h"

namespace abacus {
namespace {

using Checksum = std::array<std::uint8_t, 16>;

/// Foreign processes are kept out (EXCLUSIVE), so no shared-memory file is needed beside the log.
constexpr const char* kSettings =
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cell_size_check = "
    "ON";

/// BLAKE2b-128 of kind and key length (little-endian), key, value: the length keeps key and value apart.
Checksum checksum_of(std::uint16_t kind, BytesView key, BytesView value) {
  std::array<std::uint8_t, 6> head{};
  for (int i = 0; i < 2; ++i) head[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(kind >> (8 * i));
  for (int i = 0; i < 4; ++i) head[static_cast<std::size_t>(2 + i)] = static_cast<std::uint8_t>(key.size() >> (8 * i));
  crypto_generichash_state state;
  Checksum checksum{};
  crypto_generichash_init(&state, nullptr, 0, checksum.size());
  crypto_generichash_update(&state, head.data(), head.size());
  crypto_generichash_update(&state, key.data(), key.size());
  crypto_generichash_update(&state, value.data(), value.size());
  crypto_generichash_final(&state, checksum.data(), checksum.size());
  return checksum;
}

Status check_sizes(std::span<const Journal::Change> changes) {
  for (const auto& change : changes) {
    std::size_t value_size = change.value ? change.value->size() : 0;
    if (change.key.size() > Journal::kMaxKeyBytes || value_size > Journal::kMaxValueBytes) {
      return fail(ErrorCode::invalid,
                  "a journal record of kind {} has a key of {} and a value of {} bytes; limits are {} and {}",
                  change.kind, change.key.size(), value_size, Journal::kMaxKeyBytes, Journal::kMaxValueBytes);
    }
  }
  return {};
}

Status prepare_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return fail(code_of_errno(error.value()), "cannot create the data directory {}: {}", directory.string(),
                error.message());
  }
  return {};
}

Status quick_check(sqlite3* database) {
  TRY(std::string verdict, sqlite_query_text(database, "PRAGMA quick_check(1)"));
  if (verdict != "ok") return fail(ErrorCode::corrupt, "the file is damaged: {}", verdict);
  return {};
}

/// What to do about damage, for whoever reads the error.
Error with_advice(Error error, const std::filesystem::path& directory) {
  if (error.code != ErrorCode::corrupt) return error;
  error.message += fmt::format(
      "; keep a copy of {0} and restore all of it from a backup, or move it away to start anew (what this node had "
      "promised is then forgotten)",
      directory.string());
  return error;
}

Status check_complete(std::uint64_t held, std::optional<std::uint64_t> committed) {
  if (!committed || held >= *committed) return {};
  return fail(ErrorCode::corrupt,
              "it holds {} transactions, but {} were committed: its write-ahead log was damaged or its files were "
              "replaced; to go on with less, remove journal.mark",
              held, *committed);
}

/// SQLite takes an empty file for a new database, and throws the log beside it away.
Status check_not_emptied(const std::filesystem::path& file, std::optional<std::uint64_t> committed) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return !error && bytes > 0 ? Status{} : check_complete(0, committed);
}

/// Closing a database moves its log into it and removes the log: not before it is known to be whole.
void keep_log_at_close(sqlite3* database, bool keep) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

}  // namespace

struct Journal::Connection {
  std::optional<DirectoryLock> lock;  // Declared first: released after the database is closed.
  std::filesystem::path directory;
  SqliteHandle database;
  std::uint64_t commits = 0;  ///< Durable ones.
  std::optional<CommitMark> mark;
  SqliteStatement put;
  SqliteStatement erase;
  SqliteStatement count;

  Status prepare(std::optional<std::uint64_t> committed) {
    keep_log_at_close(database.get(), true);
    TRY_STATUS(sqlite_execute(database.get(), kSettings));
    TRY_STATUS(quick_check(database.get()));
    TRY_STATUS(migrate_schema(database.get()));
    TRY(std::int64_t held, sqlite_query_integer(database.get(), "SELECT commits FROM progress"));
    commits = static_cast<std::uint64_t>(held);
    TRY_STATUS(check_complete(commits, committed));
    keep_log_at_close(database.get(), false);
    TRY(mark, CommitMark::open(directory, commits));
    TRY(put,
        sqlite_prepare(database.get(), "INSERT OR REPLACE INTO record(kind, key, value, checksum) VALUES(?, ?, ?, ?)"));
    TRY(erase, sqlite_prepare(database.get(), "DELETE FROM record WHERE kind = ? AND key = ?"));
    TRY(count, sqlite_prepare(database.get(), "UPDATE progress SET commits = ?"));
    return {};
  }

  Result<std::vector<Row>> read_all() {
    TRY(SqliteStatement select,
        sqlite_prepare(database.get(), "SELECT kind, key, value, checksum FROM record ORDER BY kind, key"));
    std::vector<Row> rows;
    int rc;
    while ((rc = sqlite3_step(select.get())) == SQLITE_ROW) {
      TRY(rows.emplace_back(), row_of(select.get()));
    }
    if (rc != SQLITE_DONE) return fail_sqlite(database.get(), "cannot read it");
    return rows;
  }

  static Result<Row> row_of(sqlite3_stmt* select) {
    const std::int64_t stored_kind = sqlite3_column_int64(select, 0);
    const auto kind = static_cast<std::uint16_t>(stored_kind);
    const BytesView key = sqlite_column_view(select, 1), value = sqlite_column_view(select, 2);
    const BytesView stored = sqlite_column_view(select, 3);
    const Checksum expected = checksum_of(kind, key, value);
    if (stored_kind != kind || !std::equal(stored.begin(), stored.end(), expected.begin(), expected.end())) {
      return fail(ErrorCode::corrupt, "the record of kind {} with key {} is damaged: its checksum does not fit",
                  stored_kind, to_hex(key));
    }
    return Row{kind, Bytes(key.begin(), key.end()), Bytes(value.begin(), value.end())};
  }

  Status apply(const Change& change) {
    sqlite3_stmt* statement = change.value ? put.get() : erase.get();
    int rc = sqlite3_bind_int(statement, 1, change.kind);
    if (rc == SQLITE_OK) rc = sqlite_bind_bytes(statement, 2, change.key);
    Checksum checksum{};
    if (change.value) {
      checksum = checksum_of(change.kind, change.key, *change.value);
      if (rc == SQLITE_OK) rc = sqlite_bind_bytes(statement, 3, *change.value);
      if (rc == SQLITE_OK) rc = sqlite_bind_bytes(statement, 4, checksum);
    }
    if (rc == SQLITE_OK) rc = sqlite3_step(statement);
    Status status;
    if (rc != SQLITE_DONE) status = fail_sqlite(database.get(), "cannot write a journal record");
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
  }

  Status apply_all(std::span<const Change> changes) {
    TRY_STATUS(sqlite_execute(database.get(), "BEGIN IMMEDIATE"));
    for (const auto& change : changes) TRY_STATUS(apply(change));
    TRY_STATUS(apply_count());
    TRY_STATUS(sqlite_execute(database.get(), "COMMIT"));
    ++commits;
    // A mark that lags finds less out; the transaction is durable all the same.
    static_cast<void>(mark->write(commits));
    return {};
  }

  Status apply_count() {
    sqlite3_bind_int64(count.get(), 1, static_cast<sqlite3_int64>(commits + 1));
    const int rc = sqlite3_step(count.get());
    sqlite3_reset(count.get());
    return rc == SQLITE_DONE ? Status{} : fail_sqlite(database.get(), "cannot count a transaction of the journal");
  }
};

Journal::Journal(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::filesystem::path& directory) {
  if (sodium_init() < 0) return fail(ErrorCode::internal, "libsodium cannot be initialised");
  TRY_STATUS(prepare_directory(directory));
  TRY(DirectoryLock lock, DirectoryLock::acquire(directory));
  const std::filesystem::path file = directory / "journal.db";
  auto name = [&](const Error& error) { return with_advice(error.in("journal " + file.string()), directory); };
  auto committed = CommitMark::read(directory);
  if (!committed) return fail(name(committed.error()));
  if (Status there = check_not_emptied(file, *committed); !there) return fail(name(there.error()));
  TRY(SqliteHandle database, sqlite_open(file));
  auto connection = std::make_unique<Connection>();
  connection->lock = std::move(lock);
  connection->directory = directory;
  connection->database = std::move(database);
  if (auto ready = connection->prepare(*committed); !ready) return fail(name(ready.error()));
  return Journal(std::move(connection));
}

Result<std::vector<Journal::Row>> Journal::load() {
  auto rows = connection_->read_all();
  if (rows) return rows;
  const std::filesystem::path& directory = connection_->directory;
  return fail(with_advice(rows.error().in("journal " + (directory / "journal.db").string()), directory));
}

Status Journal::commit(std::span<const Change> changes) {
  TRY_STATUS(check_sizes(changes));
  if (changes.empty()) return {};
  auto done = connection_->apply_all(changes);
  if (!done && sqlite3_get_autocommit(connection_->database.get()) == 0) {
    sqlite3_exec(connection_->database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return done;
}

}  // namespace abacus
