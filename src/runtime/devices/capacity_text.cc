// Parsing and applying a declared capacity, part by part.
#include "runtime/devices/capacity_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/size.h"

namespace abacus {
namespace {

constexpr std::string_view kSimulated = "simulated-";
constexpr std::string_view kDeviceKinds[] = {"gpu", "fpga", "accel"};
constexpr std::uint32_t kCpuMax = 1'000'000;  ///< Whole CPUs; keeps thousandths within 32 bits.

/// One part, "KEY=VALUE", as written.
struct Part {
  std::string_view text;
  std::string_view key;
  std::string_view value;
};

template <class... Args>
tl::unexpected<Error> wrong(const Part& part, fmt::format_string<Args...> format, Args&&... args) {
  std::string reason = fmt::format(format, std::forward<Args>(args)...);
  return fail(ErrorCode::invalid, "capacity '{}': {}", part.text, reason);
}

std::string cpu_text(std::uint32_t milli) {
  std::string text = fmt::format("{}.{:03}", milli / 1000, milli % 1000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::uint32_t> whole_number(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  if (!all_digits(text)) return std::nullopt;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > most) return std::nullopt;
  return value;
}

/// "2" or "0.25", to three places.
std::optional<std::uint32_t> parse_milli(std::string_view text) {
  std::size_t point = std::min(text.find('.'), text.size());
  auto whole = whole_number(text.substr(0, point), kCpuMax);
  if (!whole) return std::nullopt;
  if (point == text.size()) return *whole * 1000;
  std::string places(text.substr(point + 1));
  if (places.empty() || places.size() > 3) return std::nullopt;
  places.resize(3, '0');
  auto fraction = whole_number(places, 999);
  if (!fraction) return std::nullopt;
  return *whole * 1000 + *fraction;
}

bool take_override(std::string_view& value) {
  if (!value.ends_with('!')) return false;
  value.remove_suffix(1);
  return true;
}

Status apply_cpu(Part part, const HostInventory& found, HostInventory& result) {
  bool override = take_override(part.value);
  auto milli = parse_milli(part.value);
  if (!milli || *milli == 0) return wrong(part, "want a number of CPUs above 0 such as cpu=2 or cpu=0.5");
  if (*milli > found.cpu_milli && !override) {
    return wrong(part, "this machine has {} CPU; declare at most that, or write cpu={}! to promise more than it has",
                 cpu_text(found.cpu_milli), part.value);
  }
  result.cpu_milli = *milli;
  return {};
}

Status apply_size(Part part, std::uint64_t found, std::uint64_t& result) {
  bool override = take_override(part.value);
  auto bytes = parse_size(part.value);
  if (!bytes) return wrong(part, "{}", bytes.error().message);
  if (*bytes > found && !override) {
    return wrong(part, "this machine has {} of {}; declare at most that, or write {}={}! to promise more than it has",
                 size_text(found), part.key, part.key, part.value);
  }
  result = *bytes;
  return {};
}

bool same_name(std::string_view a, std::string_view b) {
  auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string list_found(std::string_view kind, const HostInventory& found) {
  std::string text;
  for (const DeviceEntry& device : found.devices) {
    if (device.kind == kind) text += fmt::format("{}{} of '{}'", text.empty() ? "" : ", ", device.count, device.model);
  }
  return text.empty() ? fmt::format("no {}", kind) : text;
}

Status apply_simulated(const Part& part, std::uint32_t count, std::string_view model, HostInventory& result) {
  DeviceEntry device{std::string(part.key), std::string(model), count, 0, true, {}, {}};
  if (std::size_t colon = model.find(':'); colon != std::string_view::npos) {
    auto bytes = parse_size(model.substr(colon + 1));
    if (!bytes) return wrong(part, "{}", bytes.error().message);
    device.model = model.substr(0, colon);
    device.memory_bytes = *bytes;
  }
  if (device.model.size() == kSimulated.size()) return wrong(part, "want a name after '{}'", kSimulated);
  if (count > 0) result.devices.push_back(std::move(device));
  return {};
}

/// Takes `count` of the found devices, of one model if named, in the order found.
Status apply_real(const Part& part, std::uint32_t count, std::string_view model, const HostInventory& found,
                  HostInventory& result) {
  std::uint32_t left = count;
  for (const DeviceEntry& device : found.devices) {
    if (device.kind != part.key || left == 0 || (!model.empty() && !same_name(device.model, model))) continue;
    DeviceEntry some = device;
    some.count = std::min(left, device.count);
    left -= some.count;
    result.devices.push_back(std::move(some));
  }
  if (left == 0) return {};
  return wrong(part, "this machine has {}; declare at most that, or {}={}:{}NAME for devices that do not exist",
               list_found(part.key, found), part.key, count, kSimulated);
}

Status apply_devices(const Part& part, const HostInventory& found, HostInventory& result) {
  std::size_t colon = std::min(part.value.find(':'), part.value.size());
  auto count = whole_number(part.value.substr(0, colon), 1'000'000);
  if (!count) return wrong(part, "want a number of devices such as {}=1 or {}=1:MODEL", part.key, part.key);
  std::string_view model = part.value.substr(std::min(colon + 1, part.value.size()));
  if (colon < part.value.size() && model.empty()) return wrong(part, "want a model after ':'");
  if (model.starts_with(kSimulated)) return apply_simulated(part, *count, model, result);
  return apply_real(part, *count, model, found, result);
}

Result<std::vector<Part>> split_parts(std::string_view text) {
  std::vector<Part> parts;
  for (bool more = true; more;) {
    std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    Part part{text.substr(0, comma), {}, {}};
    if (more) text.remove_prefix(comma + 1);
    std::size_t equals = part.text.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.text.size()) {
      return wrong(part, "want KEY=VALUE, such as cpu=2,memory=4GiB,disk=10GiB,gpu=1:simulated-a100");
    }
    part.key = part.text.substr(0, equals);
    part.value = part.text.substr(equals + 1);
    parts.push_back(part);
  }
  return parts;
}

bool is_device(std::string_view key) {
  return std::find(std::begin(kDeviceKinds), std::end(kDeviceKinds), key) != std::end(kDeviceKinds);
}

bool alike(const DeviceEntry& a, const DeviceEntry& b) {
  return a.kind == b.kind && a.model == b.model && a.memory_bytes == b.memory_bytes && a.simulated == b.simulated;
}

std::vector<DeviceEntry> merged(const std::vector<DeviceEntry>& devices) {
  std::vector<DeviceEntry> entries;
  for (const DeviceEntry& device : devices) {
    auto same = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return alike(entry, device); });
    if (same == entries.end()) {
      entries.push_back(device);
    } else {
      same->count += device.count;
    }
  }
  return entries;
}

/// Several parts may have taken from one found entry ("gpu=2,gpu=1:a100"): together they must not take too much, and
/// each device is counted once.
Status settle_devices(const std::vector<Part>& parts, const HostInventory& found, HostInventory& result) {
  result.devices = merged(result.devices);
  for (DeviceEntry& device : result.devices) {
    auto real =
        std::find_if(found.devices.begin(), found.devices.end(), [&](const auto& one) { return alike(one, device); });
    if (real == found.devices.end()) continue;
    if (device.count > real->count) {
      auto part = std::find_if(parts.rbegin(), parts.rend(), [&](const Part& one) { return one.key == device.kind; });
      return wrong(*part, "with the {} parts before it, it declares {} of '{}', and this machine has {}", device.kind,
                   device.count, device.model, real->count);
    }
    device.indices = real->indices;
    device.indices.resize(std::min<std::size_t>(device.indices.size(), device.count));
  }
  return {};
}

Status apply_part(const Part& part, const HostInventory& found, HostInventory& result) {
  if (part.key == "cpu") return apply_cpu(part, found, result);
  if (part.key == "memory") return apply_size(part, found.memory_bytes, result.memory_bytes);
  if (part.key == "disk") return apply_size(part, found.disk_bytes, result.disk_bytes);
  if (is_device(part.key)) return apply_devices(part, found, result);
  return wrong(part, "'{}' is not one of cpu, memory, disk, gpu, fpga, accel", part.key);
}

}  // namespace

Result<HostInventory> apply_capacity(std::string_view text, const HostInventory& found) {
  TRY(std::vector<Part> parts, split_parts(text));
  HostInventory result = found;
  std::set<std::string_view> seen;
  for (const Part& part : parts) {
    bool first = seen.insert(part.key).second;
    if (!first && !is_device(part.key)) return wrong(part, "'{}' is declared twice", part.key);
    if (first) std::erase_if(result.devices, [&](const DeviceEntry& device) { return device.kind == part.key; });
    TRY_STATUS(apply_part(part, found, result));
  }
  TRY_STATUS(settle_devices(parts, found, result));
  return result;
}

}  // namespace abacus
