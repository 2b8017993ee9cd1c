// The simulator's agenda: a 4-ary heap ordered by time, then by the order of scheduling, so that ties are decided.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace abacus::sim {

/// Four children a node: half the levels of a binary heap, and the children of a node share cache lines.
template <class T>
class EventHeap {
 public:
  struct Entry {
    MonoTime at;
    std::uint64_t order = 0;
    T value;
  };

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// The most entries that it ever held.
  std::size_t peak() const { return entries_.size(); }
  MonoTime next_at() const { return heap_.front().at; }

  void push(MonoTime at, T value) {
    std::uint32_t slot = take_slot(Entry{at, order_++, std::move(value)});
    heap_.push_back({at, entries_[slot].order, slot});
    rise(heap_.size() - 1);
  }

  /// Requires !empty().
  Entry pop() {
    CHECK(!heap_.empty());
    std::uint32_t slot = heap_.front().slot;
    heap_.front() = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(0);
    free_.push_back(slot);
    return std::move(entries_[slot]);
  }

 private:
  static constexpr std::size_t kArity = 4;

  /// What is compared stays together; the payload does not move.
  struct Key {
    MonoTime at;
    std::uint64_t order = 0;
    std::uint32_t slot = 0;

    bool before(const Key& other) const { return at != other.at ? at < other.at : order < other.order; }
  };

  std::uint32_t take_slot(Entry entry) {
    if (free_.empty()) {
      entries_.push_back(std::move(entry));
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    std::uint32_t slot = free_.back();
    free_.pop_back();
    entries_[slot] = std::move(entry);
    return slot;
  }

  void rise(std::size_t i) {
    Key key = heap_[i];
    while (i > 0) {
      std::size_t parent = (i - 1) / kArity;
      if (!key.before(heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = key;
  }

  void sink(std::size_t i) {
    Key key = heap_[i];
    while (true) {
      std::size_t first = i * kArity + 1, last = std::min(first + kArity, heap_.size()), least = first;
      if (first >= heap_.size()) break;
      for (std::size_t child = first + 1; child < last; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (!heap_[least].before(key)) break;
      heap_[i] = heap_[least];
      i = least;
    }
    heap_[i] = key;
  }

  std::vector<Key> heap_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::uint64_t order_ = 0;
};

}  // namespace abacus::sim
