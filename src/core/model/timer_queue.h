// Timers of one part of a node: ordered by time, then by the order of setting. Pure data; the driver owns the clock.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "base/time.h"

namespace abacus {

/// At most one timer per key; setting it again moves it. Key needs operator<.
template <class Key>
class TimerQueue {
 public:
  void set(const Key& key, MonoTime at) {
    cancel(key);
    auto position = by_time_.insert({{at, sequence_++}, key}).first;
    by_key_.insert_or_assign(key, position->first);
  }

  void cancel(const Key& key) {
    auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    by_time_.erase(found->second);
    by_key_.erase(found);
  }

  bool contains(const Key& key) const { return by_key_.contains(key); }

  std::optional<MonoTime> next() const {
    if (by_time_.empty()) return std::nullopt;
    return by_time_.begin()->first.first;
  }

  /// Takes the earliest timer that is due, if any.
  std::optional<Key> take_due(MonoTime now) {
    if (by_time_.empty() || by_time_.begin()->first.first > now) return std::nullopt;
    Key key = std::move(by_time_.begin()->second);
    by_time_.erase(by_time_.begin());
    by_key_.erase(key);
    return key;
  }

 private:
  using Slot = std::pair<MonoTime, std::uint64_t>;
  std::map<Slot, Key> by_time_;
  std::map<Key, Slot> by_key_;
  std::uint64_t sequence_ = 0;
};

}  // namespace abacus
