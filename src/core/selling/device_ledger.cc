// Best fit over stock entries, lowest free index within one.
#include "core/selling/device_ledger.h"

#include <algorithm>

#include "base/check.h"

namespace abacus {

DeviceLedger::DeviceLedger(const std::vector<DeviceStock>& stock) { set_stock(stock); }

void DeviceLedger::set_stock(const std::vector<DeviceStock>& stock) {
  entries_.clear();
  std::uint32_t first = 0;
  for (const DeviceStock& s : stock) {
    entries_.push_back({s, first, 0, first});
    first += s.count;
  }
  if (uses_.size() < first) uses_.resize(first);
  for (Entry& entry : entries_) {
    auto begin = uses_.begin() + entry.first;
    entry.free = static_cast<std::uint32_t>(std::count(begin, begin + entry.stock.count, 0u));
  }
}

std::vector<std::uint32_t> DeviceLedger::free_counts() const {
  std::vector<std::uint32_t> counts;
  for (const Entry& entry : entries_) counts.push_back(entry.free);
  return counts;
}

std::vector<std::uint32_t> DeviceLedger::take(const std::vector<DeviceNeed>& needs, std::uint32_t slots) {
  std::uint32_t per_slot = 0;
  for (const DeviceNeed& need : needs) per_slot += need.count;
  std::vector<std::uint32_t> devices(static_cast<std::size_t>(per_slot) * slots);
  // Needs that name a model first: those that do not can live with what is left.
  for (bool named : {true, false}) {
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      std::uint32_t* out = devices.data() + static_cast<std::size_t>(per_slot) * slot;
      for (const DeviceNeed& need : needs) {
        if (need.model.empty() != named) serve(need, out);
        out += need.count;
      }
    }
  }
  return devices;
}

void DeviceLedger::serve(const DeviceNeed& need, std::uint32_t* out) {
  std::vector<Entry*> able;
  for (Entry& entry : entries_) {
    if (entry.free > 0 && serves(entry.stock, need)) able.push_back(&entry);
  }
  std::stable_sort(able.begin(), able.end(), [&](const Entry* a, const Entry* b) {
    bool a_holds = a->free >= need.count, b_holds = b->free >= need.count;
    return a_holds != b_holds ? a_holds : a->free < b->free;
  });
  std::uint32_t wanted = need.count;
  for (Entry* entry : able) {
    for (; wanted > 0 && entry->free > 0; --wanted) *out++ = take_one(*entry, uses_);
  }
  CHECK_MSG(wanted == 0, "devices taken that are not there");
}

std::uint32_t DeviceLedger::take_one(Entry& entry, std::vector<std::uint32_t>& uses) {
  while (uses[entry.hint] > 0) ++entry.hint;
  --entry.free;
  ++uses[entry.hint];
  return entry.hint++;
}

DeviceLedger::Entry* DeviceLedger::entry_of(std::uint32_t device) {
  for (Entry& entry : entries_) {
    if (device >= entry.first && device - entry.first < entry.stock.count) return &entry;
  }
  return nullptr;
}

void DeviceLedger::hold(const std::vector<std::uint32_t>& devices) {
  for (std::uint32_t device : devices) {
    if (device >= uses_.size()) uses_.resize(device + 1);
    Entry* entry = entry_of(device);
    if (uses_[device]++ == 0 && entry != nullptr) --entry->free;
  }
}

void DeviceLedger::give_back(const std::vector<std::uint32_t>& devices) {
  for (std::uint32_t device : devices) {
    CHECK_MSG(device < uses_.size() && uses_[device] > 0, "a device given back that nobody holds");
    Entry* entry = entry_of(device);
    if (--uses_[device] > 0 || entry == nullptr) continue;
    ++entry->free;
    entry->hint = std::min(entry->hint, device);
  }
}

std::uint32_t devices_per_slot(const Bundle& bundle) {
  std::uint32_t count = 0;
  for (const DeviceNeed& need : bundle.devices) count += need.count;
  return count;
}

}  // namespace abacus
