// The quotes a seller has given and must stand by: bounded, and each with an end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "protocol/trade_messages.h"

namespace abacus {

/// A quote as it was given. Holds nothing, but its price is firm for its buyer until it expires.
struct OpenQuote {
  NodeId buyer;
  NegotiationId negotiation = 0;
  Bundle bundle;
  std::uint64_t input_bytes = 0;
  std::vector<Lot> lots;
  MonoTime expires;
  bool counts_as_taken = false;
};

class QuoteBook {
 public:
  /// Names quotes first, first + 1, ...: drawn at random at each start, so that those of an earlier run are unknown.
  QuoteBook(std::size_t size, std::uint64_t first) : size_(size), front_(first) {}

  std::uint64_t add(OpenQuote quote);

  /// The quote of that name if it was given to this buyer and has neither expired nor been used. Null otherwise.
  const OpenQuote* find(const NodeId& buyer, std::uint64_t quote, MonoTime now) const;
  /// It became a lease.
  void use(std::uint64_t quote);
  void expire(MonoTime now);

  /// What other buyers than this one have been quoted and may take yet.
  struct Out {
    std::uint64_t cpu_milli = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t disk_bytes = 0;
    std::vector<DeviceNeed> devices;
  };
  bool any_counted() const { return !counted_.empty(); }
  /// When the next quote of any kind expires.
  std::optional<MonoTime> next_expiry() const;
  /// Of those marked as counting.
  Out counted_out(const NodeId& except) const;
  /// CPU of all of them, marked or not.
  std::uint64_t cpu_out(const NodeId& except) const;

  std::size_t size() const { return expiries_.size(); }

 private:
  struct Entry {
    OpenQuote quote;
    bool live = true;
  };
  void drop(std::uint64_t quote);
  Entry* entry(std::uint64_t quote);

  std::size_t size_;
  std::uint64_t front_;  ///< Name of the first entry.
  std::deque<Entry> entries_;
  std::set<std::pair<MonoTime, std::uint64_t>> expiries_;
  std::set<std::uint64_t> counted_;
  std::uint64_t cpu_out_ = 0;
  std::map<NodeId, std::uint64_t> cpu_out_of_;
};

/// Slots of all lots together.
std::uint32_t slots_of(const std::vector<Lot>& lots);

}  // namespace abacus
