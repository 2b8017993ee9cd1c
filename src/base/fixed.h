// Fixed-point numbers for price arithmetic: the same bits on every machine, where floating point would not be.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "base/int128.h"
#include "base/money.h"

namespace abacus {

/// A number in Q32.32: `raw` / 2^32, from -2^31 to just under 2^31 in steps of 2^-32 (2.3e-10).
///
/// Arithmetic goes through 128 bits and rounds to the nearest step, halves away from zero, so that x and -x behave
/// alike. A result out of range and a division by zero are bugs and CHECK; exp alone saturates.
struct Fixed {
  std::int64_t raw = 0;

  static constexpr int kFractionBits = 32;
  static constexpr std::int64_t kOne = std::int64_t{1} << kFractionBits;

  /// The nearest step to numerator / denominator: `Fixed::ratio(92, 100)` for 0.92. Requires denominator > 0.
  static constexpr Fixed ratio(std::int64_t numerator, std::int64_t denominator) {
    CHECK_MSG(denominator > 0, "fixed-point ratio over zero or less");
    return {narrow(divide_nearest(static_cast<Int128>(numerator) * kOne, denominator), "fixed-point overflow")};
  }

  static constexpr Fixed whole(std::int64_t n) { return ratio(n, 1); }
  static constexpr Fixed max() { return {std::numeric_limits<std::int64_t>::max()}; }

  auto operator<=>(const Fixed&) const = default;

  constexpr Fixed operator+(Fixed other) const { return checked(static_cast<Int128>(raw) + other.raw); }
  constexpr Fixed operator-(Fixed other) const { return checked(static_cast<Int128>(raw) - other.raw); }
  constexpr Fixed operator-() const { return checked(-static_cast<Int128>(raw)); }
  constexpr Fixed operator*(Fixed other) const {
    return checked(divide_nearest(static_cast<Int128>(raw) * other.raw, kOne));
  }
  constexpr Fixed operator/(Fixed other) const {
    CHECK_MSG(other.raw != 0, "fixed-point division by zero");
    Int128 numerator = static_cast<Int128>(raw) * kOne;
    return checked(other.raw > 0 ? divide_nearest(numerator, other.raw)
                                 : divide_nearest(-numerator, -static_cast<Int128>(other.raw)));
  }

  constexpr Fixed& operator+=(Fixed other) { return *this = *this + other; }
  constexpr Fixed& operator-=(Fixed other) { return *this = *this - other; }
  constexpr Fixed& operator*=(Fixed other) { return *this = *this * other; }

  /// For printing only: nothing that a decision depends on may pass through it.
  double to_double() const;

 private:
  static constexpr Fixed checked(Int128 value) { return {narrow(value, "fixed-point overflow")}; }
};

/// e^x, within 2^-33 + 2^-58 e^x of the true value and never decreasing in x. Saturates: Fixed::max() from
/// x = 31 ln 2 (21.49) on, zero where e^x is under half a step (x < -22.87).
///
/// Method: x = k ln 2 + r with |r| <= ln 2 / 2, then a Taylor polynomial of degree 15 for e^r (its remainder is under
/// 2^-68) by Horner's rule with 62 fraction bits, then a shift by k.
Fixed exp(Fixed x);

/// The natural logarithm, within 2^-33 + 2^-57 of the true value and never decreasing. Requires x > 0.
///
/// Method: x = 2^k m with m in [1/sqrt 2, sqrt 2), z = (m - 1) / (m + 1), ln m = 2 (z + z^3/3 + ... + z^25/25) with 62
/// fraction bits (|z| < 0.172, so the rest of the series is under 2^-70).
Fixed ln(Fixed x);

/// The amount or rate times `factor`, to the nearest micro-credit, halves away from zero. Overflow CHECKs.
Money scaled(Money money, Fixed factor);
Price scaled(Price price, Fixed factor);

}  // namespace abacus
