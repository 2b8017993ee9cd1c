// A transaction is applied as a whole when it finishes; loading decodes every row.
#include "sim/disk.h"

#include <algorithm>
#include <iterator>

#include "core/model/record_reader.h"

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
  RecordReader reader;
  for (const auto& [kind, rows] : rows_) {
    for (const auto& [key, value] : rows) TRY_STATUS(reader.add(kind, key, value));
  }
  return reader.take();
}

}  // namespace abacus::sim
