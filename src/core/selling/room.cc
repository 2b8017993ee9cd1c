// Sums of what is held, and the free capacity derived from them.
#include "core/selling/room.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace abacus {

Room::Room(Capacity capacity) : capacity_(std::move(capacity)), free_(capacity_), devices_(capacity_.devices) {}

std::vector<std::uint32_t> Room::reserve(const Bundle& bundle, std::uint32_t slots) {
  CHECK(slots_that_fit(free_, bundle) >= slots);
  std::vector<std::uint32_t> devices = devices_.take(bundle.devices, slots);
  hold(bundle, slots, {});
  return devices;
}

void Room::hold(const Bundle& bundle, std::uint32_t slots, const std::vector<std::uint32_t>& devices) {
  devices_.hold(devices);
  cpu_milli_ += std::uint64_t{bundle.cpu_milli} * slots;
  memory_bytes_ += bundle.memory_bytes * slots;
  disk_bytes_ += bundle.disk_bytes * slots;
  refresh();
}

void Room::release(const Bundle& bundle, std::uint32_t slots, const std::vector<std::uint32_t>& devices) {
  devices_.give_back(devices);
  cpu_milli_ -= std::uint64_t{bundle.cpu_milli} * slots;
  memory_bytes_ -= bundle.memory_bytes * slots;
  disk_bytes_ -= bundle.disk_bytes * slots;
  freed_ = true;
  refresh();
}

void Room::set_capacity(Capacity capacity) {
  capacity_ = std::move(capacity);
  free_ = capacity_;
  devices_.set_stock(capacity_.devices);
  freed_ = true;
  refresh();
}

void Room::refresh() {
  free_.cpu_milli =
      static_cast<std::uint32_t>(capacity_.cpu_milli - std::min<std::uint64_t>(cpu_milli_, capacity_.cpu_milli));
  free_.memory_bytes = capacity_.memory_bytes - std::min(memory_bytes_, capacity_.memory_bytes);
  free_.disk_bytes = capacity_.disk_bytes - std::min(disk_bytes_, capacity_.disk_bytes);
  if (!free_.devices.empty()) {
    std::vector<std::uint32_t> counts = devices_.free_counts();
    for (std::size_t i = 0; i < counts.size(); ++i) free_.devices[i].count = counts[i];
  }
  changed_ = true;
}

bool Room::take_changed() { return std::exchange(changed_, false); }
bool Room::take_freed() { return std::exchange(freed_, false); }

}  // namespace abacus
