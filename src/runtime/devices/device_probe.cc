// Reading each maker's corner of /sys and /proc.
#include "runtime/devices/device_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "runtime/devices/nvidia_smi.h"
#include "runtime/exec/cgroup_files.h"

namespace abacus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNvidia = "0x10de", kAmd = "0x1002", kIntel = "0x8086";

/// Names in a directory, sorted by number where they hold one, so that results do not depend on the directory's order.
std::vector<std::string> names_in(const std::string& directory, std::string_view prefix = {}) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

std::string first_line(const std::string& path) {
  std::string text = read_small_file(path).value_or("");
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

/// The value after a key in "Key: value" or "key value" lines.
std::string value_of(const std::string& text, std::string_view key) {
  std::size_t at = text.find(key);
  while (at != std::string::npos && at != 0 && text[at - 1] != '\n') at = text.find(key, at + 1);
  if (at == std::string::npos) return {};
  std::size_t start = text.find_first_not_of(": \t", at + key.size());
  if (start == std::string::npos) return {};
  return text.substr(start, text.find('\n', start) - start);
}

std::uint64_t number_of(const std::string& text, std::string_view key) {
  return std::strtoull(value_of(text, key).c_str(), nullptr, 10);
}

/// "8086-56c0" from the sysfs folder of a PCI device.
std::string pci_model(const std::string& device) {
  auto digits = [&](const char* name) {
    std::string text = first_line(device + "/" + name);
    return text.starts_with("0x") ? text.substr(2) : text;
  };
  return digits("vendor") + "-" + digits("device");
}

/// Collects devices, alike ones in one entry, and remembers which PCI addresses are accounted for.
class Collector {
 public:
  Collector(const ProbeOptions& options, HostInventory& inventory) : options_(options), inventory_(inventory) {}

  void nvidia();
  void amd();
  void intel();
  void fpga();
  void accel();
  void note_unseen();

 private:
  std::string at(std::string_view path) const { return options_.root + std::string(path); }
  bool exists(std::string_view path) const { return fs::exists(at(path)); }
  void add(const DeviceEntry& device);
  std::vector<NvidiaGpu> ask_nvidia_smi();
  std::uint64_t amd_memory(const std::string& node) const;

  const ProbeOptions& options_;
  HostInventory& inventory_;
  std::set<std::string> seen_;  ///< PCI addresses.
};

void Collector::add(const DeviceEntry& device) {
  for (DeviceEntry& known : inventory_.devices) {
    if (known.kind != device.kind || known.model != device.model || known.memory_bytes != device.memory_bytes) continue;
    known.count += device.count;
    known.paths.insert(known.paths.end(), device.paths.begin(), device.paths.end());
    known.indices.insert(known.indices.end(), device.indices.begin(), device.indices.end());
    return;
  }
  inventory_.devices.push_back(device);
}

std::vector<NvidiaGpu> Collector::ask_nvidia_smi() {
  for (const char* program : {"/usr/bin/nvidia-smi", "/usr/local/bin/nvidia-smi"}) {
    if (!exists(program)) continue;
    auto answer = query_nvidia_smi(at(program), options_.program_limit);
    if (answer) return *answer;
    inventory_.notes.push_back(fmt::format("{}; the memory of NVIDIA GPUs is unknown", answer.error().message));
  }
  return {};
}

void Collector::nvidia() {
  auto addresses = names_in(at("/proc/driver/nvidia/gpus"));
  if (addresses.empty()) return;
  std::vector<NvidiaGpu> told = ask_nvidia_smi();
  for (const std::string& address : addresses) {
    std::string information = read_small_file(at("/proc/driver/nvidia/gpus/" + address + "/information")).value_or("");
    seen_.insert(address);
    std::string minor = value_of(information, "Device Minor");
    std::string node = "/dev/nvidia" + minor;
    if (minor.empty() || !exists(node)) {
      inventory_.notes.push_back(
          fmt::format("NVIDIA GPU {} has no device node {}, so no task could use it", address, node));
      continue;
    }
    auto index = static_cast<std::uint32_t>(std::strtoul(minor.c_str(), nullptr, 10));
    DeviceEntry gpu{"gpu", value_of(information, "Model"), 1, 0, false, {node}, {index}};
    for (const NvidiaGpu& one : told) {
      if (one.bus_id != address) continue;
      gpu.model = one.name;
      gpu.memory_bytes = one.memory_bytes;
      gpu.indices = {one.index};
    }
    add(gpu);
  }
}

std::uint64_t Collector::amd_memory(const std::string& node) const {
  std::uint64_t bytes = 0;
  for (const std::string& bank : names_in(node + "/mem_banks")) {
    std::string properties = read_small_file(node + "/mem_banks/" + bank + "/properties").value_or("");
    // Heap types 1 and 2 are the board's own memory, visible to the CPU or not (kfd_sysfs.h).
    std::uint64_t heap = number_of(properties, "heap_type");
    if (heap == 1 || heap == 2) bytes += number_of(properties, "size_in_bytes");
  }
  return bytes;
}

void Collector::amd() {
  std::string nodes = at("/sys/class/kfd/kfd/topology/nodes");
  std::uint32_t index = 0;
  for (const std::string& name : names_in(nodes)) {
    std::string node = nodes + "/" + name;
    std::string properties = read_small_file(node + "/properties").value_or("");
    if (number_of(properties, "simd_count") == 0) continue;  // A CPU.
    std::string render = fmt::format("renderD{}", number_of(properties, "drm_render_minor"));
    std::string device = at("/sys/class/drm/" + render + "/device");
    std::uint64_t location = number_of(properties, "location_id");
    seen_.insert(fmt::format("{:04x}:{:02x}:{:02x}.{:x}", number_of(properties, "domain"), location >> 8 & 0xff,
                             location >> 3 & 0x1f, location & 7));
    std::string model = first_line(device + "/product_name");
    if (model.empty()) model = first_line(node + "/name");
    if (model.empty()) model = fmt::format("1002-{:04x}", number_of(properties, "device_id"));
    add({"gpu", model, 1, amd_memory(node), false, {"/dev/kfd", "/dev/dri/" + render}, {index++}});
  }
}

void Collector::intel() {
  std::uint32_t index = 0;
  for (const std::string& render : names_in(at("/sys/class/drm"), "renderD")) {
    std::string device = at("/sys/class/drm/" + render + "/device");
    if (first_line(device + "/vendor") != kIntel) continue;
    std::error_code error;
    seen_.insert(fs::canonical(device, error).filename().string());
    add({"gpu", pci_model(device), 1, 0, false, {"/dev/dri/" + render}, {index++}});
  }
}

void Collector::fpga() {
  std::uint32_t index = 0;
  for (const std::string& name : names_in(at("/sys/class/fpga_manager"))) {
    std::string model = first_line(at("/sys/class/fpga_manager/" + name + "/name"));
    std::vector<std::string> paths;
    if (exists("/dev/" + name)) paths.push_back("/dev/" + name);
    add({"fpga", model.empty() ? name : model, 1, 0, false, paths, {index++}});
  }
}

void Collector::accel() {
  std::uint32_t index = 0;
  for (const std::string& name : names_in(at("/sys/class/accel"), "accel")) {
    std::string device = at("/sys/class/accel/" + name + "/device");
    add({"accel", pci_model(device), 1, 0, false, {"/dev/accel/" + name}, {index++}});
  }
}

void Collector::note_unseen() {
  for (const std::string& address : names_in(at("/sys/bus/pci/devices"))) {
    std::string device = at("/sys/bus/pci/devices/" + address);
    std::string vendor = first_line(device + "/vendor"), type = first_line(device + "/class");
    bool display = type.starts_with("0x0300") || type.starts_with("0x0302") || type.starts_with("0x0380");
    if (!display || seen_.contains(address)) continue;
    const char* maker = vendor == kNvidia ? "NVIDIA" : vendor == kAmd ? "AMD" : vendor == kIntel ? "Intel" : nullptr;
    if (maker == nullptr) continue;  // Server management chips and virtual displays.
    inventory_.notes.push_back(fmt::format("{} GPU {} ({}) is on the PCI bus, but no driver offers it for computing",
                                           maker, address, pci_model(device)));
  }
}

}  // namespace

void probe_devices(const ProbeOptions& options, HostInventory& inventory) {
  Collector collector(options, inventory);
  collector.nvidia();
  collector.amd();
  collector.intel();
  collector.fpga();
  collector.accel();
  collector.note_unseen();
}

}  // namespace abacus
