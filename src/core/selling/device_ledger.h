// Which devices are whose. Indices count through the stock entries of the capacity in order, from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/resources.h"

namespace abacus {

class DeviceLedger {
 public:
  explicit DeviceLedger(const std::vector<DeviceStock>& stock);

  /// How many devices of each stock entry are free.
  std::vector<std::uint32_t> free_counts() const;

  /// Devices for `slots` slots: slot after slot, within a slot in the order of its needs. A need is served from the
  /// entry with the least room that holds all of it, so that large needs find whole entries later; only where none
  /// does are models mixed. Requires that they fit (slots_that_fit of the free counts).
  std::vector<std::uint32_t> take(const std::vector<DeviceNeed>& needs, std::uint32_t slots);

  /// Devices known to be in use, from the journal: may be held twice, or lie outside of the present stock.
  void hold(const std::vector<std::uint32_t>& devices);
  void give_back(const std::vector<std::uint32_t>& devices);

  /// The hardware changed; what is in use stays so.
  void set_stock(const std::vector<DeviceStock>& stock);

 private:
  struct Entry {
    DeviceStock stock;
    std::uint32_t first = 0;  ///< Index of its first device.
    std::uint32_t free = 0;
    std::uint32_t hint = 0;  ///< No free device lies before it.
  };

  Entry* entry_of(std::uint32_t device);
  void serve(const DeviceNeed& need, std::uint32_t* out);
  static std::uint32_t take_one(Entry& entry, std::vector<std::uint32_t>& uses);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> uses_;  ///< Holders of each device.
};

/// Devices that one slot takes.
std::uint32_t devices_per_slot(const Bundle& bundle);

}  // namespace abacus
