// The simulated disk of a node: what was committed survives a crash, what was not is gone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "core/model/records.h"

namespace abacus::sim {

class Disk {
 public:
  /// Takes a transaction, which `finish` makes durable as a whole, with those before it, and `roll_back` loses.
  void begin(std::vector<JournalChange> changes);
  void finish();
  void roll_back() { pending_.clear(); }

  /// All durable records in key order.
  Result<std::vector<Record>> load() const;

  /// One durable record. Null: there is none of that name.
  template <class R, class Key>
  std::optional<R> read(const Key& key) const {
    auto kind = rows_.find(kRecordKind<R>);
    if (kind == rows_.end()) return std::nullopt;
    auto row = kind->second.find(encode(key));
    if (row == kind->second.end()) return std::nullopt;
    return record_of<R>(row->second);
  }

  /// All durable records of a kind, in key order.
  template <class R>
  std::vector<R> all() const {
    std::vector<R> records;
    auto kind = rows_.find(kRecordKind<R>);
    if (kind == rows_.end()) return records;
    for (const auto& [key, value] : kind->second) records.push_back(record_of<R>(value));
    return records;
  }

  using Rows = std::map<std::uint16_t, std::map<Bytes, Bytes>>;  ///< By kind and key.
  const Rows& rows() const { return rows_; }

 private:
  template <class R>
  static R record_of(const Bytes& value) {
    auto record = decode_record(kRecordKind<R>, value);
    CHECK_MSG(record.has_value(), record ? "" : record.error().message);
    return std::get<R>(std::move(*record));
  }

  Rows rows_;
  std::vector<JournalChange> pending_;
};

}  // namespace abacus::sim
