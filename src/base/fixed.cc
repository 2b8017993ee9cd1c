// exp and ln by range reduction and short polynomials, in integers only.
#include "base/fixed.h"

#include <bit>

namespace abacus {
namespace {

constexpr int kWorkBits = 62;  // fraction bits of intermediate values, which stay within [-2, 2)
constexpr Int128 kWorkOne = static_cast<Int128>(1) << kWorkBits;
constexpr Int128 kLn2 = 0xb17217f7d1cf79acULL;          // ln 2 with 64 fraction bits, rounded
constexpr Int128 kSqrt2 = 0x5a827999fcef3242ULL;        // sqrt 2 with 62 fraction bits
constexpr std::int64_t kExpHighest = 22 * Fixed::kOne;  // e^22 is past the range
constexpr std::int64_t kExpLowest = -23 * Fixed::kOne;  // e^-23 is under half a step

/// e^r with kWorkBits fraction bits, for r of 64 fraction bits with |r| <= ln 2 / 2.
Int128 exp_of_remainder(Int128 r) {
  Int128 sum = kWorkOne;
  for (int n = 15; n >= 1; --n) sum = kWorkOne + ((r * sum) >> 64) / n;
  return sum;
}

/// ln m with kWorkBits fraction bits, for z = (m - 1) / (m + 1) of as many.
Int128 ln_of_quotient(Int128 z) {
  Int128 square = (z * z) >> kWorkBits;
  Int128 sum = 0;
  for (int n = 25; n >= 1; n -= 2) sum = kWorkOne / n + ((square * sum) >> kWorkBits);
  return 2 * ((z * sum) >> kWorkBits);
}

std::int64_t scaled_micro(std::int64_t micro, Fixed factor) {
  return narrow(divide_nearest(static_cast<Int128>(micro) * factor.raw, Fixed::kOne), "money overflow");
}

}  // namespace

double Fixed::to_double() const { return static_cast<double>(raw) / static_cast<double>(kOne); }

Fixed exp(Fixed x) {
  if (x.raw >= kExpHighest) return Fixed::max();
  if (x.raw <= kExpLowest) return {};
  Int128 wide = static_cast<Int128>(x.raw) << 32;  // 64 fraction bits, like kLn2
  int k = static_cast<int>(divide_nearest(wide, kLn2));
  Int128 power = exp_of_remainder(wide - k * kLn2);
  int shift = kWorkBits - Fixed::kFractionBits - k;  // from -2 (about to saturate) to 63
  Int128 steps = shift > 0 ? divide_nearest(power, static_cast<Int128>(1) << shift) : power << -shift;
  return steps > Fixed::max().raw ? Fixed::max() : Fixed{static_cast<std::int64_t>(steps)};
}

Fixed ln(Fixed x) {
  CHECK_MSG(x.raw > 0, "logarithm of zero or less");
  int highest = 63 - std::countl_zero(static_cast<std::uint64_t>(x.raw));
  int k = highest - Fixed::kFractionBits;
  Int128 mantissa = static_cast<Int128>(x.raw) << (kWorkBits - highest);  // in [1, 2)
  Int128 unit = kWorkOne;
  if (mantissa >= kSqrt2) {  // halve it by doubling what it is compared with
    unit *= 2;
    ++k;
  }
  Int128 z = ((mantissa - unit) << kWorkBits) / (mantissa + unit);
  Int128 total = ln_of_quotient(z) + ((k * kLn2) >> (64 - kWorkBits));
  return {
      static_cast<std::int64_t>(divide_nearest(total, static_cast<Int128>(1) << (kWorkBits - Fixed::kFractionBits)))};
}

Money scaled(Money money, Fixed factor) { return {scaled_micro(money.micro, factor)}; }
Price scaled(Price price, Fixed factor) { return {scaled_micro(price.micro_per_s, factor)}; }

}  // namespace abacus
