// 128-bit intermediates for checked 64-bit arithmetic, and the two roundings that prices and money use.
#pragma once

#include <cstdint>
#include <limits>

#include "base/check.h"

namespace abacus {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

/// The value as 64 bits. CHECKs that it fits; `what` names the quantity for whoever reads the crash.
constexpr std::int64_t narrow(Int128 value, const char* what) {
  CHECK_MSG(value <= std::numeric_limits<std::int64_t>::max() && value >= std::numeric_limits<std::int64_t>::min(),
            what);
  return static_cast<std::int64_t>(value);
}

/// The quotient rounded up, towards plus infinity. Requires denominator > 0.
constexpr Int128 divide_up(Int128 numerator, Int128 denominator) {
  return numerator / denominator + (numerator % denominator > 0 ? 1 : 0);
}

/// The nearest quotient, halves away from zero. Requires denominator > 0 and |numerator| + denominator / 2 < 2^127.
constexpr Int128 divide_nearest(Int128 numerator, Int128 denominator) {
  Int128 half = denominator / 2;
  return (numerator >= 0 ? numerator + half : numerator - half) / denominator;
}

}  // namespace abacus
