// What a machine has to sell, as found or as declared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace abacus {

/// `count` devices that are alike.
struct DeviceEntry {
  std::string kind;   ///< "gpu", "fpga" or "accel".
  std::string model;  ///< As its driver names it, or "VENDOR-DEVICE" in PCI numbers.
  std::uint32_t count = 0;
  std::uint64_t memory_bytes = 0;      ///< Of one; 0 where nobody tells.
  bool simulated = false;              ///< Declared, not found; runs nothing.
  std::vector<std::string> paths;      ///< Device nodes a task needs.
  std::vector<std::uint32_t> indices;  ///< The driver's numbers for them, one a device.

  bool operator==(const DeviceEntry&) const = default;
};

struct HostInventory {
  std::uint32_t cpu_milli = 0;     ///< Logical CPUs this process may use, quota respected.
  std::uint64_t memory_bytes = 0;  ///< Memory this process may use, cgroup limits respected.
  std::uint64_t disk_bytes = 0;    ///< Free for us where the agent keeps its data.
  std::vector<DeviceEntry> devices;
  std::vector<std::string> notes;  ///< What is there but cannot be sold, and why; for people.

  bool operator==(const HostInventory&) const = default;
};

}  // namespace abacus
