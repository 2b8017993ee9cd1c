// The simulated disk of a node: what was committed survives a crash, what was not is gone.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/model/records.h"

namespace abacus::sim {

class Disk {
 public:
  /// Takes a transaction that becomes durable by `finish`, with those before it, and is lost by `crash`.
  void begin(std::vector<JournalChange> changes);
  void finish();
  void crash() { pending_.clear(); }

  /// All durable records in key order.
  Result<std::vector<Record>> load() const;

  using Rows = std::map<std::pair<std::uint16_t, Bytes>, Bytes>;
  const Rows& rows() const { return rows_; }

 private:
  Rows rows_;
  std::vector<JournalChange> pending_;
};

}  // namespace abacus::sim
