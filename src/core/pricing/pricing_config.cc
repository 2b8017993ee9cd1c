// Ranges of a pricing configuration: inside them no price computation can overflow.
#include "core/pricing/pricing_config.h"

#include "protocol/limits.h"

namespace abacus {
namespace {

constexpr std::int64_t kMaxMilliwatts = 1'000'000'000;
constexpr std::int64_t kMaxTariff = 1'000'000'000'000;

Status in_range(std::int64_t value, std::int64_t low, std::int64_t high, const char* what) {
  if (value < low || value > high) return fail(ErrorCode::invalid, "{} is {}: want {} to {}", what, value, low, high);
  return {};
}

Status check_device(const DeviceRate& device) {
  TRY_STATUS(in_range(device.milliwatts, 0, kMaxMilliwatts, "a device's milliwatts"));
  return in_range(device.capacity_rate.micro_per_s, 0, kMaxPriceMicroPerS, "a device's capacity rate");
}

Status check_controller(const PricingConfig& config) {
  TRY_STATUS(in_range(config.target_permille, 1, 1'000, "the target utilisation in permille"));
  TRY_STATUS(in_range(config.gain_permille, 1, 100'000, "the gain in permille"));
  TRY_STATUS(in_range(config.multiplier_min_permille, 1, 1'000, "the least multiplier in permille"));
  TRY_STATUS(in_range(config.multiplier_max_permille, 1'000, 1'000'000, "the greatest multiplier in permille"));
  TRY_STATUS(in_range(config.time_constant_min.ns, milliseconds(1).ns, hours(24).ns, "the least time constant in ns"));
  return in_range(config.time_constant_max.ns, config.time_constant_min.ns, hours(24).ns,
                  "the greatest time constant in ns");
}

}  // namespace

Status validate(const PricingConfig& config) {
  TRY_STATUS(in_range(config.milliwatts_per_cpu, 0, kMaxMilliwatts, "milliwatts a CPU"));
  TRY_STATUS(in_range(config.milliwatts_per_gib, 0, kMaxMilliwatts, "milliwatts a GiB"));
  TRY_STATUS(in_range(config.tariff_micro_per_kwh, -kMaxTariff, kMaxTariff, "the tariff"));
  for (std::int64_t tariff : config.hourly_micro_per_kwh) {
    TRY_STATUS(in_range(tariff, -kMaxTariff, kMaxTariff, "an hourly tariff"));
  }
  TRY_STATUS(in_range(config.cpu_rate.micro_per_s, 0, kMaxPriceMicroPerS, "the capacity rate of a CPU"));
  TRY_STATUS(in_range(config.memory_rate.micro_per_s, 0, kMaxPriceMicroPerS, "the capacity rate of a GiB"));
  for (const DeviceRate& device : config.devices) TRY_STATUS(check_device(device));
  TRY_STATUS(check_device(config.other_device));
  TRY_STATUS(in_range(config.fee_per_gib_near.micro, 0, limits::kMaxMoneyMicro, "the fee inside the region"));
  TRY_STATUS(in_range(config.fee_per_gib_far.micro, 0, limits::kMaxMoneyMicro, "the fee between regions"));
  return check_controller(config);
}

}  // namespace abacus
