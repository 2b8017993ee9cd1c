// Money arithmetic on what peers say: it saturates where base/money.h would CHECK.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/int128.h"
#include "base/money.h"
#include "protocol/limits.h"

namespace abacus {

/// The value as an amount, held within +-limits::kMaxMoneyMicro.
constexpr Money saturated(Int128 micro) {
  constexpr Int128 kMost = limits::kMaxMoneyMicro;
  return {static_cast<std::int64_t>(std::clamp(micro, -kMost, kMost))};
}

constexpr Money sum(Money a, Money b) { return saturated(static_cast<Int128>(a.micro) + b.micro); }
constexpr Money difference(Money a, Money b) { return saturated(static_cast<Int128>(a.micro) - b.micro); }
constexpr Money times(Money a, std::int64_t factor) { return saturated(static_cast<Int128>(a.micro) * factor); }

/// cost_of (base/money.h) for any arguments: rounded up, a negative time counts as none. `time` is under 293 years
/// and the price within 64 bits, so their product fits 128 bits; the slots are multiplied last.
constexpr Money most_cost(Price price, std::int64_t slots, Duration time) {
  constexpr Int128 kNsPerSecond = 1'000'000'000;
  constexpr Int128 kBound = static_cast<Int128>(limits::kMaxMoneyMicro) * kNsPerSecond;
  Int128 one = static_cast<Int128>(price.micro_per_s) * std::max<std::int64_t>(time.ns, 0);
  one = std::clamp(one, -kBound, kBound);  // under 2^90: times 100,000 slots still fits
  return saturated(divide_up(one * slots, kNsPerSecond));
}

/// The dearest price at which `time` costs no more than `money`.
constexpr Price dearest(Money money, Duration time) {
  Int128 price = static_cast<Int128>(money.micro) * 1'000'000'000 / std::max<std::int64_t>(time.ns, 1);
  return {saturated(price).micro};
}

/// `share` permille of an amount, rounded towards zero.
constexpr Money permille(Money money, std::int64_t share) {
  return saturated(static_cast<Int128>(money.micro) * share / 1000);
}

}  // namespace abacus
