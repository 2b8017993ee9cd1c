// A thin, owning layer over SQLite's C calls: connection, prepared statement, errors as Results.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace abacus {

struct SqliteClose {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct SqliteFinalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteHandle = std::unique_ptr<sqlite3, SqliteClose>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, SqliteFinalize>;

/// The last error of the connection: a full disk is `exhausted`, a read-only or unreachable file `denied`, damage
/// `corrupt`, a foreign lock `unavailable`, others `internal`.
tl::unexpected<Error> fail_sqlite(sqlite3* database, std::string_view what);

/// Opens or creates a database file, without SQLite's own mutex: one thread at a time uses the connection.
Result<SqliteHandle> sqlite_open(const std::filesystem::path& file);

/// Runs statements that return no rows of interest.
Status sqlite_execute(sqlite3* database, const char* sql);

/// Compiles a statement that will be used often.
Result<SqliteStatement> sqlite_prepare(sqlite3* database, const char* sql);

/// The first column of the first row, as text; empty when there is no row.
Result<std::string> sqlite_query_text(sqlite3* database, const char* sql);

/// The first column of the first row, as an integer; 0 when there is no row.
Result<std::int64_t> sqlite_query_integer(sqlite3* database, const char* sql);

/// Binds bytes to the parameter `index` (from 1) without copying: they must live until the statement is reset. Empty
/// bytes bind an empty blob, not NULL.
int sqlite_bind_bytes(sqlite3_stmt* statement, int index, BytesView bytes);

/// The bytes of a column of the current row, valid until the next step.
BytesView sqlite_column_view(sqlite3_stmt* statement, int column);

}  // namespace abacus
