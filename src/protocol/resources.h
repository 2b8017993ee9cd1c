// What work needs (a bundle), what a node has (its capacity), and the arithmetic between them.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace abacus {

/// `count` devices of one kind ("gpu", "fpga", ...). An empty model means any.
struct DeviceNeed {
  std::string kind;
  std::string model;
  std::uint32_t count = 1;

  auto operator<=>(const DeviceNeed&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceNeed, (), (kind, model, count))

/// What one slot needs. A task occupies exactly one slot.
struct Bundle {
  std::uint32_t cpu_milli = 1000;  ///< Thousandths of a logical CPU.
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::vector<DeviceNeed> devices;

  auto operator<=>(const Bundle&) const = default;
};
BOOST_DESCRIBE_STRUCT(Bundle, (), (cpu_milli, memory_bytes, disk_bytes, devices))

/// `count` devices of one kind and model. Simulated ones are declared for tests and demonstrations and run nothing.
struct DeviceStock {
  std::string kind;
  std::string model;
  std::uint32_t count = 0;
  std::uint64_t memory_bytes = 0;
  bool simulated = false;

  auto operator<=>(const DeviceStock&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceStock, (), (kind, model, count, memory_bytes, simulated))

/// What a node has, or has free.
struct Capacity {
  std::uint32_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::vector<DeviceStock> devices;

  auto operator<=>(const Capacity&) const = default;
};
BOOST_DESCRIBE_STRUCT(Capacity, (), (cpu_milli, memory_bytes, disk_bytes, devices))

/// One dimension in which a bundle does not fit: "memory", needs 8 GiB, has 2 GiB. Units: milli-CPUs, bytes, devices.
struct Shortfall {
  std::string dimension;  ///< "cpu_milli", "memory_bytes", "disk_bytes", or "KIND" / "KIND:MODEL" of a device.
  std::uint64_t needed = 0;
  std::uint64_t available = 0;

  auto operator<=>(const Shortfall&) const = default;
};
BOOST_DESCRIBE_STRUCT(Shortfall, (), (dimension, needed, available))

/// How many such bundles fit side by side.
std::uint32_t slots_that_fit(const Capacity& free, const Bundle& bundle);

/// Every dimension in which one bundle does not fit; empty when it fits.
std::vector<Shortfall> shortfalls(const Capacity& free, const Bundle& bundle);

/// Takes `slots` bundles out of `free`. Requires that they fit. Devices of an unnamed model come from the first stock
/// entries that have some; use core's device ledger where it matters which.
void take(Capacity& free, const Bundle& bundle, std::uint32_t slots);

/// True if a stock entry can serve a need.
bool serves(const DeviceStock& stock, const DeviceNeed& need);

/// "2 CPU, 512 MiB, 1 gpu:a100": for people.
std::string to_string(const Bundle& bundle);
std::string to_string(const Capacity& capacity);
std::string to_string(const Shortfall& shortfall);

Status validate(const DeviceNeed& need);
Status validate(const Bundle& bundle);
Status validate(const DeviceStock& stock);
Status validate(const Capacity& capacity);

}  // namespace abacus
