// From the rows of a journal back to records, none of them left aside unsaid.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/records.h"

namespace abacus {

/// Takes the rows in key order and gives the records. What no node can have written is an error that names the record
/// and says what is wrong with it: going on with less than what was promised is worse than not starting.
class RecordReader {
 public:
  /// Errors: those of decode_record, with the row; `corrupt` for a row out of order (or there twice), or one whose key
  /// is not that of its record.
  Status add(std::uint16_t kind, BytesView key, BytesView value);

  std::vector<Record> take() { return std::move(records_); }

 private:
  std::vector<Record> records_;
  std::optional<std::pair<std::uint16_t, Bytes>> latest_;
};

/// Whether a node can go on from these records. Errors: `corrupt` if some are missing that others rely on: the node's
/// own, the job of a task or of a lease.
Status check_whole(const std::vector<Record>& records);

}  // namespace abacus
