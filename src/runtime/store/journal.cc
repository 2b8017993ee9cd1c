// Every row carries a checksum of its kind, key and value; the file is checked as a whole at open.
#include "runtime/store/journal.h"

#include <sodium.h>

#include <algorithm>
#include <array>

#include "base/check.h"
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

}  // namespace

struct Journal::Connection {
  DirectoryLock lock;  // Declared first: released after the database is closed.
  SqliteHandle database;
  SqliteStatement put;
  SqliteStatement erase;

  Status prepare() {
    TRY_STATUS(sqlite_execute(database.get(), kSettings));
    TRY_STATUS(quick_check(database.get()));
    TRY_STATUS(migrate_schema(database.get()));
    TRY(put,
        sqlite_prepare(database.get(), "INSERT OR REPLACE INTO record(kind, key, value, checksum) VALUES(?, ?, ?, ?)"));
    TRY(erase, sqlite_prepare(database.get(), "DELETE FROM record WHERE kind = ? AND key = ?"));
    return {};
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
    return sqlite_execute(database.get(), "COMMIT");
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
  std::filesystem::path file = directory / "journal.db";
  TRY(SqliteHandle database, sqlite_open(file));
  auto connection = std::make_unique<Connection>(Connection{std::move(lock), std::move(database), {}, {}});
  if (auto ready = connection->prepare(); !ready) return fail(ready.error().in("journal " + file.string()));
  return Journal(std::move(connection));
}

Result<std::vector<Journal::Row>> Journal::load() {
  sqlite3* database = connection_->database.get();
  TRY(SqliteStatement select,
      sqlite_prepare(database, "SELECT kind, key, value, checksum FROM record ORDER BY kind, key"));
  std::vector<Row> rows;
  int rc;
  while ((rc = sqlite3_step(select.get())) == SQLITE_ROW) {
    std::int64_t stored_kind = sqlite3_column_int64(select.get(), 0);
    auto kind = static_cast<std::uint16_t>(stored_kind);
    BytesView key = sqlite_column_view(select.get(), 1), value = sqlite_column_view(select.get(), 2);
    BytesView stored = sqlite_column_view(select.get(), 3);
    Checksum expected = checksum_of(kind, key, value);
    if (stored_kind != kind || !std::equal(stored.begin(), stored.end(), expected.begin(), expected.end())) {
      return fail(ErrorCode::corrupt, "the journal record of kind {} with key {} is damaged: its checksum does not fit",
                  stored_kind, to_hex(key));
    }
    rows.push_back({kind, Bytes(key.begin(), key.end()), Bytes(value.begin(), value.end())});
  }
  if (rc != SQLITE_DONE) return fail_sqlite(database, "cannot read the journal");
  return rows;
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
