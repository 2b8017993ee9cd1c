// The scarcity multiplier m of a node's prices: it rises while the node is fuller than the target and falls otherwise.
#pragma once

#include <cstdint>

#include "base/fixed.h"
#include "base/int128.h"
#include "base/time.h"
#include "core/pricing/pricing_config.h"

namespace abacus {

/// m *= exp(gain * dt / T * (x - target) / 0.08), kept within its bounds.
///
/// x is the smoothed utilisation plus the unmet demand. T is max(service time, 4 message delays), within the bounds of
/// the configuration: a faster controller would act on news older than its own last step and swing. Utilisation is
/// constant between two calls of observe, so there is no timer: advance catches up whenever somebody wants a price.
class Multiplier {
 public:
  /// Goes on from `permille` (1000: neutral), as permille() gave it before a restart.
  Multiplier(const PricingConfig& config, std::uint32_t permille);

  /// From now on the share in use is `utilisation` (0 to 1). The first call starts the clock.
  void observe(MonoTime now, Fixed utilisation);

  /// Final unmet bids above this node's own price, as a share of its capacity, divided by the number of sellers asked.
  /// Zero where not known; cut to 0 to 8. Counting every decline would collapse efficiency.
  void set_unmet(Fixed share);

  /// Mean run time of a task here, and the expected time from a price to an award.
  void set_pace(Duration service_time, Duration message_delay);

  /// Brings the multiplier up to date.
  void advance(MonoTime now);

  Fixed value() const { return value_; }
  std::uint32_t permille() const;
  Duration time_constant() const { return time_constant_; }

 private:
  void step(Duration dt, Fixed sample);

  PricingConfig config_;
  Fixed value_;
  Fixed low_;
  Fixed high_;
  Fixed smoothed_;
  Fixed unmet_;
  Fixed current_;
  Int128 area_ = 0;  ///< Utilisation x time since the last step.
  bool running_ = false;
  MonoTime observed_at_;
  MonoTime stepped_at_;
  Duration time_constant_;
};

}  // namespace abacus
