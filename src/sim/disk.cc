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
    std::pair<std::uint16_t, Bytes> name{change.kind, std::move(change.key)};
    if (change.value) {
      rows_.insert_or_assign(std::move(name), std::move(*change.value));
    } else {
      rows_.erase(name);
    }
  }
  pending_.clear();
}

Result<std::vector<Record>> Disk::load() const {
  std::vector<Record> records;
  records.reserve(rows_.size());
  for (const auto& [name, value] : rows_) {
    TRY(Record record, decode_record(name.first, value));
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace abacus::sim
