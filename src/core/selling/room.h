// What a node has, and how much of it leases hold.
#pragma once

#include <cstdint>
#include <vector>

#include "core/selling/device_ledger.h"
#include "protocol/resources.h"

namespace abacus {

class Room {
 public:
  explicit Room(Capacity capacity);

  const Capacity& capacity() const { return capacity_; }
  /// Capacity less what is held; never under zero, though a node may hold more than it has after losing hardware.
  const Capacity& free() const { return free_; }

  /// Holds `slots` bundles; returns their devices, slot after slot. Requires that they fit the free room.
  std::vector<std::uint32_t> reserve(const Bundle& bundle, std::uint32_t slots);
  /// Holds what the journal says is held, whether it fits or not.
  void hold(const Bundle& bundle, std::uint32_t slots, const std::vector<std::uint32_t>& devices);
  void release(const Bundle& bundle, std::uint32_t slots, const std::vector<std::uint32_t>& devices);
  void set_capacity(Capacity capacity);

  /// True once after every change.
  bool take_changed();
  /// True once after room was given back or added.
  bool take_freed();

 private:
  void refresh();

  Capacity capacity_;
  Capacity free_;
  DeviceLedger devices_;
  std::uint64_t cpu_milli_ = 0;  ///< Held.
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t disk_bytes_ = 0;
  bool changed_ = true;
  bool freed_ = false;
};

}  // namespace abacus
