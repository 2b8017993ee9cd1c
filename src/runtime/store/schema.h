// The journal file's tables, their version, and the way from each older version to the newest.
#pragma once

#include <sqlite3.h>

#include "base/result.h"

namespace abacus {

/// Brings a new or older database to the newest version, one transaction a step. To change the tables, append a step in
/// schema.cc; steps that were released are never edited. Errors: `unsupported` for a database newer than this program;
/// `invalid` for one that is not a journal; others as SQLite reports them.
Status migrate_schema(sqlite3* database);

}  // namespace abacus
