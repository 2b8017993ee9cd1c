// Money: checked 64-bit integers of micro-credits, with 128-bit intermediates. No floating point, no silent overflow.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace abacus {

/// An amount, possibly negative (energy can be). Arithmetic that would overflow is a bug and CHECKs.
struct Money {
  std::int64_t micro = 0;

  auto operator<=>(const Money&) const = default;
  Money operator+(Money other) const;
  Money operator-(Money other) const;
  Money operator*(std::int64_t factor) const;
  Money operator-() const;
  Money& operator+=(Money other) { return *this = *this + other; }
  Money& operator-=(Money other) { return *this = *this - other; }
};

constexpr Money micro_credits(std::int64_t n) { return {n}; }
constexpr Money credits(std::int64_t n) { return {n * 1'000'000}; }

/// A rate: micro-credits for one slot-second.
struct Price {
  std::int64_t micro_per_s = 0;

  auto operator<=>(const Price&) const = default;
  Price operator+(Price other) const;
};

/// What `slots` slots cost for `time` at `price`: rounded up to the next micro-credit, so that a sum of parts is never
/// less than the whole by more than one micro-credit a part. Requires slots >= 0 and time >= 0.
Money cost_of(Price price, std::int64_t slots, Duration time);

/// "12.345678 cr" without trailing zeros, at least two decimals ("3.00 cr").
std::string to_string(Money money);

/// "0.36 cr/h": people think in hours.
std::string to_string(Price price);

/// A decimal number of credits with at most six decimals ("2", "0.25", "-1.5").
/// Errors: `invalid` for anything else or a value past +-9.2e12 credits.
Result<Money> parse_money(std::string_view text);

}  // namespace abacus
