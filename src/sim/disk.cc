// A transaction is applied as a whole when it finishes; loading decodes every row.
#include "sim/disk.h"

#include <algorithm>
#include <iterator>

namespace abacus::sim {

void Disk::begin(std::vector<JournalChange> changes) {
  std::move(changes.begin(), changes.end(), std::back_inserter(pending_));
}

void Disk::finish() {
  for (JournalChange& change : pending_) {
    auto& kind = rows_[change.kind];
    if (change.value) {
      kind.insert_or_assign(std::move(change.key), std::move(*change.value));
    } else {
      kind.erase(change.key);
    }
  }
  pending_.clear();
}

Result<std::vector<Record>> Disk::load() const {
  std::vector<Record> records;
  for (const auto& [kind, rows] : rows_) {
    for (const auto& [key, value] : rows) {
      TRY(Record record, decode_record(kind, value));
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace abacus::sim
