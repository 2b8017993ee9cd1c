// The controller: integrates utilisation exactly, then takes a few fixed-point steps.
#include "core/pricing/multiplier.h"

#include <algorithm>

namespace abacus {
namespace {

constexpr Duration kStepMin = milliseconds(250);
constexpr int kStepsMax = 64;

Fixed of_permille(std::uint32_t permille) { return Fixed::ratio(permille, 1'000); }

/// a / b for durations, cut at 64: beyond that an exponential has nothing left to say.
Fixed quotient(Duration a, Duration b) {
  Int128 raw = static_cast<Int128>(a.ns) * Fixed::kOne / b.ns;
  return {static_cast<std::int64_t>(std::min<Int128>(raw, 64 * static_cast<Int128>(Fixed::kOne)))};
}

}  // namespace

Multiplier::Multiplier(const PricingConfig& config, std::uint32_t permille)
    : config_(config),
      low_(of_permille(config.multiplier_min_permille)),
      high_(of_permille(config.multiplier_max_permille)),
      time_constant_(config.time_constant_min) {
  value_ = of_permille(std::clamp(permille, config.multiplier_min_permille, config.multiplier_max_permille));
  // An idle start must not read as a lull: the smoothed share begins at the target and is moved by what is seen.
  smoothed_ = of_permille(config.target_permille);
}

void Multiplier::observe(MonoTime now, Fixed utilisation) {
  if (!running_) {
    running_ = true;
    observed_at_ = stepped_at_ = now;
  }
  advance(now);
  if (now > observed_at_) {
    area_ += static_cast<Int128>(current_.raw) * (now - observed_at_).ns;
    observed_at_ = now;
  }
  current_ = utilisation;
}

void Multiplier::set_unmet(Fixed share) { unmet_ = std::clamp(share, Fixed::whole(0), Fixed::whole(8)); }

void Multiplier::set_pace(Duration service_time, Duration message_delay) {
  Duration wanted = std::max(service_time, std::min(message_delay, hours(1)) * 4);
  time_constant_ = std::clamp(wanted, config_.time_constant_min, config_.time_constant_max);
}

void Multiplier::advance(MonoTime now) {
  if (!running_ || now - stepped_at_ < kStepMin) return;
  Duration elapsed = now - stepped_at_;
  area_ += static_cast<Int128>(current_.raw) * (now - observed_at_).ns;
  Fixed mean{static_cast<std::int64_t>(area_ / elapsed.ns)};
  std::int64_t steps = std::clamp<std::int64_t>(elapsed.ns / (time_constant_.ns / 8 + 1), 1, kStepsMax);
  for (std::int64_t i = 0; i < steps; ++i) step(elapsed / steps, mean);
  area_ = 0;
  observed_at_ = stepped_at_ = now;
}

void Multiplier::step(Duration dt, Fixed sample) {
  Fixed one = Fixed::whole(1);
  smoothed_ += (sample - smoothed_) * (one - exp(-quotient(dt * 8, time_constant_)));
  Fixed error = (smoothed_ + unmet_ - of_permille(config_.target_permille)) / Fixed::ratio(8, 100);
  Fixed exponent = quotient(dt, time_constant_) * of_permille(config_.gain_permille) * error;
  Fixed bounded = std::clamp(exponent, Fixed::whole(-8), Fixed::whole(8));
  value_ = std::clamp(value_ * exp(bounded), low_, high_);
}

std::uint32_t Multiplier::permille() const {
  return static_cast<std::uint32_t>(divide_nearest(static_cast<Int128>(value_.raw) * 1'000, Fixed::kOne));
}

}  // namespace abacus
