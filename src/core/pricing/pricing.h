// What one more slot costs now: marginal cost and scarcity, per resource dimension of the bundle.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fixed.h"
#include "core/pricing/pricing_config.h"
#include "protocol/trade_messages.h"

namespace abacus {

/// How full a node is. Views: both must outlive the call that they are given to.
struct Load {
  const Capacity& capacity;
  const Capacity& free;
};

/// The greatest share in use over CPU, memory and every kind of device, 0 to 1.
Fixed utilisation(const Load& load);

/// Pure; one thread at a time is no condition.
class Pricing {
 public:
  /// Requires validate(config).
  explicit Pricing(PricingConfig config);

  struct Priced {
    Price price;
    PriceReason reason;
  };

  /// The price of each of `slots` slots of the bundle, taken together on top of the load (0: of those in use already):
  ///
  ///   p = energy + sum over dimensions of rate * amount * multiplier / (1.10 - u)
  ///
  /// where u, at most 1, is the share of the dimension in use after the award. Rounded up to a micro-credit a second.
  /// Energy is watts x tariff and may be negative; the sum is not, because an idle slot burns nothing and nobody may
  /// earn by holding one. Never decreases with load, slots or multiplier.
  Priced price(const Load& load, const Bundle& bundle, std::uint32_t slots, Fixed multiplier, WallTime at) const;

  /// The supply curve: at most eight lots with rising prices, together `count` slots. Counts grow geometrically, and a
  /// lot's price is that of an award up to and including it, so that of lot_for(lots, n) is never less than price() for
  /// n slots. Fee and start delay are left at zero. Requires 1 <= count <= limits::kSlots.
  std::vector<Lot> supply(const Load& load, const Bundle& bundle, std::uint32_t count, Fixed multiplier,
                          WallTime at) const;

  /// For moving so many bytes of inputs, once a task. Rounded up.
  Money fee(std::uint64_t input_bytes, bool same_region) const;

  /// The tariff that holds at a time.
  std::int64_t tariff_micro_per_kwh(WallTime at) const;

  const PricingConfig& config() const { return config_; }

 private:
  const DeviceRate& rate_of(const std::string& kind) const;

  PricingConfig config_;
};

/// The lot that decides the price of `slots` slots: the first that they reach no further than. Null if there are fewer.
const Lot* lot_for(const std::vector<Lot>& lots, std::uint32_t slots);

}  // namespace abacus
