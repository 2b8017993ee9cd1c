// One list of steps, each run in a transaction of its own.
#include "runtime/store/schema.h"

#include <array>

#include "runtime/store/sqlite.h"

namespace abacus {
namespace {

/// Step i brings version i to version i + 1. The empty database is version 0.
constexpr std::array kSteps = {
    "CREATE TABLE schema(version INTEGER NOT NULL);"
    "INSERT INTO schema VALUES(0);"
    "CREATE TABLE record(kind INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, checksum BLOB NOT NULL,"
    " PRIMARY KEY(kind, key)) WITHOUT ROWID;",
    "CREATE TABLE progress(commits INTEGER NOT NULL);"
    "INSERT INTO progress VALUES(0);",
};

Result<std::size_t> version_of(sqlite3* database) {
  TRY(std::int64_t tables, sqlite_query_integer(database, "SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  TRY(std::int64_t known, sqlite_query_integer(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema'"));
  if (known == 0) return fail(ErrorCode::invalid, "this is not an Iron Abacus journal: it has no table 'schema'");
  TRY(std::int64_t version, sqlite_query_integer(database, "SELECT version FROM schema"));
  if (version < 1) return fail(ErrorCode::corrupt, "the journal's schema version reads {}", version);
  return static_cast<std::size_t>(version);
}

Status run_step(sqlite3* database, std::size_t from) {
  TRY_STATUS(sqlite_execute(database, "BEGIN IMMEDIATE"));
  std::string finish = fmt::format("UPDATE schema SET version = {}; COMMIT", from + 1);
  auto done = sqlite_execute(database, kSteps.at(from));
  if (done) done = sqlite_execute(database, finish.c_str());
  if (!done) sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

}  // namespace

Status migrate_schema(sqlite3* database) {
  TRY(std::size_t version, version_of(database));
  if (version > kSteps.size()) {
    return fail(ErrorCode::unsupported,
                "the journal has schema version {}, this program knows versions up to {}: use the newer program",
                version, kSteps.size());
  }
  for (; version < kSteps.size(); ++version) TRY_STATUS(run_step(database, version));
  return {};
}

}  // namespace abacus
