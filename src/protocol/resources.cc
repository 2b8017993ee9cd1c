// How often a bundle fits, what is missing when it does not, and which devices it takes.
#include "protocol/resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

std::uint64_t devices_serving(const Capacity& free, const DeviceNeed& need) {
  std::uint64_t count = 0;
  for (const DeviceStock& stock : free.devices) {
    if (serves(stock, need)) count += stock.count;
  }
  return count;
}

void limit(std::uint64_t& slots, std::uint64_t available, std::uint64_t needed) {
  if (needed > 0) slots = std::min(slots, available / needed);
}

/// Needs may overlap (two of a kind, one of them naming a model). By Hall's theorem it is enough that for each model
/// named, and for each kind, the needs that only it can serve find enough.
void limit_devices(std::uint64_t& slots, const Capacity& free, const std::vector<DeviceNeed>& needs) {
  for (const DeviceNeed& need : needs) {
    std::uint64_t same_model = 0, same_kind = 0;
    for (const DeviceNeed& other : needs) {
      if (other.kind != need.kind) continue;
      same_kind += other.count;
      if (other.model == need.model) same_model += other.count;
    }
    limit(slots, devices_serving(free, {need.kind, "", 1}), same_kind);
    if (!need.model.empty()) limit(slots, devices_serving(free, need), same_model);
  }
}

void take_devices(Capacity& free, const DeviceNeed& need, std::uint32_t wanted) {
  for (DeviceStock& stock : free.devices) {
    if (!serves(stock, need)) continue;
    std::uint32_t taken = std::min(wanted, stock.count);
    stock.count -= taken;
    wanted -= taken;
  }
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 1ull << 30) return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1 << 30));
  if (bytes >= 1ull << 20) return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{} B", bytes);
}

std::string quantity(const std::string& dimension, std::uint64_t amount) {
  if (dimension == "cpu_milli") return fmt::format("{:g} CPU", static_cast<double>(amount) / 1000);
  if (dimension == "memory_bytes" || dimension == "disk_bytes") return bytes_text(amount);
  return std::to_string(amount);
}

std::string main_parts(std::uint32_t cpu_milli, std::uint64_t memory_bytes) {
  std::string text = quantity("cpu_milli", cpu_milli);
  if (memory_bytes > 0) text += ", " + bytes_text(memory_bytes);
  return text;
}

template <class Device>
std::string device_text(const Device& device) {
  return fmt::format(", {} {}{}{}", device.count, device.kind, device.model.empty() ? "" : ":", device.model);
}

Status check_name(const std::string& name, const char* what, bool may_be_empty) {
  if (name.size() > limits::kNameBytes || (name.empty() && !may_be_empty)) {
    return fail(ErrorCode::invalid, "{} must have 1 to {} characters, not {}", what, limits::kNameBytes, name.size());
  }
  return {};
}

Status check_sizes(std::uint32_t cpu_milli, std::uint64_t memory_bytes, std::uint64_t disk_bytes, std::size_t devices) {
  if (cpu_milli > limits::kMaxCpuMilli || memory_bytes > limits::kMaxBytesOfMemory ||
      disk_bytes > limits::kMaxBytesOfMemory || devices > limits::kDeviceKinds) {
    return fail(ErrorCode::invalid, "resources out of range: {} mCPU, {} B memory, {} B disk, {} kinds of device",
                cpu_milli, memory_bytes, disk_bytes, devices);
  }
  return {};
}

}  // namespace

bool serves(const DeviceStock& stock, const DeviceNeed& need) {
  return stock.kind == need.kind && (need.model.empty() || stock.model == need.model);
}

std::uint32_t slots_that_fit(const Capacity& free, const Bundle& bundle) {
  std::uint64_t slots = limits::kSlots;
  limit(slots, free.cpu_milli, bundle.cpu_milli);
  limit(slots, free.memory_bytes, bundle.memory_bytes);
  limit(slots, free.disk_bytes, bundle.disk_bytes);
  limit_devices(slots, free, bundle.devices);
  return static_cast<std::uint32_t>(slots);
}

std::vector<Shortfall> shortfalls(const Capacity& free, const Bundle& bundle) {
  std::vector<Shortfall> result;
  auto compare = [&](std::string dimension, std::uint64_t needed, std::uint64_t available) {
    if (needed > available) result.push_back({std::move(dimension), needed, available});
  };
  compare("cpu_milli", bundle.cpu_milli, free.cpu_milli);
  compare("memory_bytes", bundle.memory_bytes, free.memory_bytes);
  compare("disk_bytes", bundle.disk_bytes, free.disk_bytes);
  for (const DeviceNeed& need : bundle.devices) {
    compare(need.model.empty() ? need.kind : need.kind + ":" + need.model, need.count, devices_serving(free, need));
  }
  return result;
}

void take(Capacity& free, const Bundle& bundle, std::uint32_t slots) {
  CHECK(slots_that_fit(free, bundle) >= slots);
  free.cpu_milli -= bundle.cpu_milli * slots;
  free.memory_bytes -= bundle.memory_bytes * slots;
  free.disk_bytes -= bundle.disk_bytes * slots;
  for (bool named : {true, false}) {
    for (const DeviceNeed& need : bundle.devices) {
      if (need.model.empty() != named) take_devices(free, need, need.count * slots);
    }
  }
}

std::string to_string(const Bundle& bundle) {
  std::string text = main_parts(bundle.cpu_milli, bundle.memory_bytes);
  for (const DeviceNeed& need : bundle.devices) text += device_text(need);
  return text;
}

std::string to_string(const Capacity& capacity) {
  std::string text = main_parts(capacity.cpu_milli, capacity.memory_bytes);
  for (const DeviceStock& stock : capacity.devices)
    text += device_text(stock) + (stock.simulated ? " (simulated)" : "");
  return text;
}

std::string to_string(const Shortfall& shortfall) {
  return fmt::format("{}: needs {}, has {}", shortfall.dimension, quantity(shortfall.dimension, shortfall.needed),
                     quantity(shortfall.dimension, shortfall.available));
}

Status validate(const DeviceNeed& need) {
  TRY_STATUS(check_name(need.kind, "a device's kind", false));
  TRY_STATUS(check_name(need.model, "a device's model", true));
  if (need.count == 0 || need.count > limits::kSlots) {
    return fail(ErrorCode::invalid, "{} devices of kind {}: want 1 to {}", need.count, need.kind, limits::kSlots);
  }
  return {};
}

Status validate(const Bundle& bundle) {
  if (bundle.cpu_milli == 0) return fail(ErrorCode::invalid, "a bundle needs some CPU: want at least 1 mCPU");
  return check_sizes(bundle.cpu_milli, bundle.memory_bytes, bundle.disk_bytes, bundle.devices.size());
}

Status validate(const DeviceStock& stock) {
  TRY_STATUS(check_name(stock.kind, "a device's kind", false));
  TRY_STATUS(check_name(stock.model, "a device's model", true));
  if (stock.count > limits::kSlots) return fail(ErrorCode::invalid, "{} devices of kind {}", stock.count, stock.kind);
  return {};
}

Status validate(const Capacity& capacity) {
  return check_sizes(capacity.cpu_milli, capacity.memory_bytes, capacity.disk_bytes, capacity.devices.size());
}

}  // namespace abacus
