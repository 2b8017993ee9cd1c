// What a seller's prices are made of: power, wear, distance, and how the scarcity multiplier moves.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/money.h"
#include "base/result.h"
#include "base/time.h"

namespace abacus {

/// Power and capacity rate of one device of a kind.
struct DeviceRate {
  std::string kind;
  std::int64_t milliwatts = 0;
  Price capacity_rate;
};
BOOST_DESCRIBE_STRUCT(DeviceRate, (), (kind, milliwatts, capacity_rate))

/// All numbers are integers, so that the same configuration gives the same prices on every machine. With a credit taken
/// for a thousandth of a euro, the defaults make a busy CPU cost about three cents an hour.
struct PricingConfig {
  /// Power that work adds to a node that is on anyway: the idle share is no marginal cost.
  std::int64_t milliwatts_per_cpu = 8'000;
  std::int64_t milliwatts_per_gib = 300;

  /// In micro-credits; may be negative. Constant, unless there is a schedule: then entry i holds from
  /// `hourly_from` + i hours on, and the list repeats for ever in both directions.
  std::int64_t tariff_micro_per_kwh = 250'000'000;
  std::vector<std::int64_t> hourly_micro_per_kwh;
  WallTime hourly_from;

  /// What wear and investment cost, before load: for a CPU, a GiB of memory, a device.
  Price cpu_rate{6'000};
  Price memory_rate{600};
  std::vector<DeviceRate> devices;
  DeviceRate other_device{"", 150'000, Price{400'000}};  ///< Kinds that are not in the list.

  /// For moving a task's inputs, a GiB: from inside the region, from another one.
  Money fee_per_gib_near;
  Money fee_per_gib_far = micro_credits(20'000'000);

  /// The multiplier's controller: see Multiplier.
  std::uint32_t target_permille = 920;
  std::uint32_t gain_permille = 1'000;
  std::uint32_t multiplier_min_permille = 300;
  std::uint32_t multiplier_max_permille = 8'000;
  Duration time_constant_min = seconds(5);
  Duration time_constant_max = minutes(5);
};
BOOST_DESCRIBE_STRUCT(PricingConfig, (),
                      (milliwatts_per_cpu, milliwatts_per_gib, tariff_micro_per_kwh, hourly_micro_per_kwh, hourly_from,
                       cpu_rate, memory_rate, devices, other_device, fee_per_gib_near, fee_per_gib_far, target_permille,
                       gain_permille, multiplier_min_permille, multiplier_max_permille, time_constant_min,
                       time_constant_max))

/// No price or rate may be higher: it is what a message can carry.
inline constexpr std::int64_t kMaxPriceMicroPerS = 1'000'000'000'000;

/// For a configuration from a file. Errors: `invalid`, naming the number that is out of range.
Status validate(const PricingConfig& config);

}  // namespace abacus
