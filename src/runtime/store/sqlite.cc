// SQLite's result codes as error codes; each statement is finalised by its owner.
#include "runtime/store/sqlite.h"

#include <cerrno>

#include "runtime/posix/fd.h"

namespace abacus {
namespace {

ErrorCode code_of(sqlite3* database) {
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_FULL: return ErrorCode::exhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN: return ErrorCode::denied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::unavailable;
    case SQLITE_TOOBIG: return ErrorCode::invalid;
    case SQLITE_IOERR: return code_of_errno(sqlite3_system_errno(database));
    default: return ErrorCode::internal;
  }
}

}  // namespace

tl::unexpected<Error> fail_sqlite(sqlite3* database, std::string_view what) {
  return fail(code_of(database), "{}: {} (SQLite error {})", what, sqlite3_errmsg(database),
              sqlite3_extended_errcode(database));
}

Result<SqliteHandle> sqlite_open(const std::filesystem::path& file) {
  sqlite3* raw = nullptr;
  int rc =
      sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteHandle handle(raw);
  if (rc != SQLITE_OK) return fail_sqlite(raw, fmt::format("cannot open {}", file.string()));
  sqlite3_extended_result_codes(raw, 1);
  return handle;
}

Status sqlite_execute(sqlite3* database, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return fail_sqlite(database, sql);
  return {};
}

Result<SqliteStatement> sqlite_prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) != SQLITE_OK) {
    return fail_sqlite(database, sql);
  }
  return SqliteStatement(raw);
}

Result<std::string> sqlite_query_text(sqlite3* database, const char* sql) {
  TRY(SqliteStatement statement, sqlite_prepare(database, sql));
  int rc = sqlite3_step(statement.get());
  if (rc == SQLITE_DONE) return std::string();
  if (rc != SQLITE_ROW) return fail_sqlite(database, sql);
  const unsigned char* text = sqlite3_column_text(statement.get(), 0);
  return std::string(text ? reinterpret_cast<const char*>(text) : "");
}

Result<std::int64_t> sqlite_query_integer(sqlite3* database, const char* sql) {
  TRY(SqliteStatement statement, sqlite_prepare(database, sql));
  int rc = sqlite3_step(statement.get());
  if (rc != SQLITE_DONE && rc != SQLITE_ROW) return fail_sqlite(database, sql);
  return rc == SQLITE_ROW ? sqlite3_column_int64(statement.get(), 0) : 0;
}

int sqlite_bind_bytes(sqlite3_stmt* statement, int index, BytesView bytes) {
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  return sqlite3_bind_blob64(statement, index, data, bytes.size(), SQLITE_STATIC);
}

BytesView sqlite_column_view(sqlite3_stmt* statement, int column) {
  const void* data = sqlite3_column_blob(statement, column);
  return {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

}  // namespace abacus
