// The development market as it is remembered on disk: which agents `abacus dev up` started, and how to know them again.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/endpoint.h"
#include "base/money.h"
#include "base/result.h"
#include "protocol/resources.h"

namespace abacus {

struct DevAgent {
  std::string name;
  std::string data_dir;
  std::string region;
  std::string capacity;
  Money energy_per_kwh;
  Endpoint endpoint;
  std::uint32_t pid = 0;          ///< 0: not started.
  std::uint64_t start_ticks = 0;  ///< With the pid it names one process for ever (until a reboot).

  auto operator<=>(const DevAgent&) const = default;
};
BOOST_DESCRIBE_STRUCT(DevAgent, (), (name, data_dir, region, capacity, energy_per_kwh, endpoint, pid, start_ticks))

struct DevMarket {
  std::string dir;
  std::vector<DevAgent> agents;

  auto operator<=>(const DevMarket&) const = default;
};
BOOST_DESCRIBE_STRUCT(DevMarket, (), (dir, agents))

/// What `dev up` starts on a machine: `count` agents, taking turns at the regions, of different sizes and with energy
/// prices that differ from region to region. The sizes promise no agent more than the machine has, but together they
/// may promise more CPUs: it is one machine after all. Pids and endpoints are left empty.
std::vector<DevAgent> plan_dev_agents(const std::string& dir, std::uint32_t count,
                                      const std::vector<std::string>& regions, const Capacity& machine);

/// The market recorded in a folder; none if there is no record. Errors: `corrupt`, `denied`, `internal`.
Result<std::optional<DevMarket>> load_dev_market(const std::string& dir);

/// Replaces the record at once: a reader sees the old one or the new one. Errors: `denied`, `internal`.
Status save_dev_market(const DevMarket& market);

/// Forgets the market. Harmless if there is none.
void forget_dev_market(const std::string& dir);

}  // namespace abacus
