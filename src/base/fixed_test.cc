// Fixed point: rounding, stops at overflow, exp and ln against the documented bounds.
#include "base/fixed.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace abacus {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference must be finer than the bounds it checks");
static_assert(Fixed::ratio(1, 2).raw == Fixed::kOne / 2, "constants are made at compile time");

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

long double exact(Fixed x) { return std::ldexp(static_cast<long double>(x.raw), -Fixed::kFractionBits); }

auto any_fixed(std::int64_t below) { return rc::gen::inRange<std::int64_t>(-below * Fixed::kOne, below * Fixed::kOne); }

TEST(Fixed, RatioTakesTheNearestStep) {
  EXPECT_EQ(Fixed::ratio(1, 3).raw, 1431655765);
  EXPECT_EQ(Fixed::ratio(2, 3).raw, 2863311531);
  EXPECT_EQ(Fixed::ratio(-2, 3).raw, -2863311531);
  EXPECT_EQ(Fixed::ratio(1, 2 * Fixed::kOne).raw, 1);  // half a step, away from zero
  EXPECT_EQ(Fixed::ratio(-1, 2 * Fixed::kOne).raw, -1);
  EXPECT_EQ(Fixed::whole(-7), Fixed::ratio(-14, 2));
}

RC_GTEST_PROP(Fixed, ArithmeticIsTheNearestStepToTheTruth, ()) {
  Fixed a{*any_fixed(30'000)}, b{*any_fixed(30'000)};
  long double half = std::ldexp(0.5L, -Fixed::kFractionBits) * 1.0001L;
  RC_ASSERT(exact(a + b) == exact(a) + exact(b));
  RC_ASSERT(exact(a - b) == exact(a) - exact(b));
  RC_ASSERT(std::abs(exact(a * b) - exact(a) * exact(b)) <= half);
  RC_PRE(std::abs(exact(b)) > 0.001L);
  RC_ASSERT(std::abs(exact(a / b) - exact(a) / exact(b)) <= half);
}

RC_GTEST_PROP(Fixed, SignsAreTreatedAlike, ()) {
  Fixed a{*any_fixed(30'000)}, b{*any_fixed(30'000)};
  RC_ASSERT(-a * b == -(a * b));
  RC_ASSERT(a * b == b * a);
  RC_PRE(std::abs(b.raw) > Fixed::kOne / 1'000);
  RC_ASSERT(-a / b == -(a / b));
  RC_ASSERT(a / -b == -(a / b));
}

TEST(Fixed, CompoundAssignmentAndOrder) {
  Fixed x = Fixed::whole(2);
  x += Fixed::ratio(1, 2);
  x *= Fixed::whole(4);
  x -= Fixed::whole(1);
  EXPECT_EQ(x, Fixed::whole(9));
  EXPECT_LT(Fixed::whole(-1), Fixed::ratio(-1, 2));
  EXPECT_DOUBLE_EQ(Fixed::ratio(-9, 4).to_double(), -2.25);
}

TEST(FixedDeathTest, OverflowAndDivisionByZeroStop) {
  EXPECT_DEATH(Fixed{kMost} + Fixed{1}, "fixed-point overflow");
  EXPECT_DEATH(Fixed{kLeast} - Fixed{1}, "fixed-point overflow");
  EXPECT_DEATH(-Fixed{kLeast}, "fixed-point overflow");
  EXPECT_DEATH(Fixed::whole(50'000) * Fixed::whole(50'000), "fixed-point overflow");
  EXPECT_DEATH(Fixed::whole(50'000) / Fixed::ratio(1, 50'000), "fixed-point overflow");
  EXPECT_DEATH(Fixed::whole(1) / Fixed{}, "division by zero");
  EXPECT_DEATH(Fixed::ratio(1, 0), "ratio over zero or less");
  EXPECT_DEATH(Fixed::whole(std::int64_t{1} << 31), "fixed-point overflow");
  EXPECT_DEATH(ln(Fixed{}), "logarithm of zero or less");
  EXPECT_DEATH(ln(Fixed{-1}), "logarithm of zero or less");
}

TEST(Fixed, ExtremesDivideAndMultiply) {
  EXPECT_EQ((Fixed{kLeast} / Fixed::whole(1)).raw, kLeast);
  EXPECT_EQ((Fixed{kLeast} * Fixed::whole(1)).raw, kLeast);
  EXPECT_EQ(Fixed{kLeast} / Fixed{kLeast}, Fixed::whole(1));
  EXPECT_EQ((Fixed{1} / Fixed{kLeast}).raw, 0);
}

void expect_exp_within_bound(Fixed x) {
  long double truth = std::exp(exact(x)), bound = std::ldexp(1.0L, -33) + std::ldexp(truth, -58);
  ASSERT_LE(std::abs(exact(exp(x)) - truth), bound) << x.raw;
}

void expect_ln_within_bound(Fixed x) {
  long double bound = std::ldexp(1.0L, -33) + std::ldexp(1.0L, -57);
  ASSERT_LE(std::abs(exact(ln(x)) - std::log(exact(x))), bound) << x.raw;
}

constexpr Fixed kSaturatesFrom = Fixed::ratio(214875626, 10'000'000);  // a little over 31 ln 2

// Evenly over the whole range, in odd strides that share no pattern with the binary digits.
TEST(Fixed, ExpIsWithinItsBoundEverywhere) {
  for (std::int64_t raw = -24 * Fixed::kOne; raw < Fixed::ratio(214875, 10'000).raw; raw += 1'000'003) {
    expect_exp_within_bound({raw});
  }
}

TEST(Fixed, LnIsWithinItsBoundEverywhere) {
  for (int bits = 0; bits < 63; ++bits) {
    std::int64_t low = std::int64_t{1} << bits;
    std::int64_t points = std::min<std::int64_t>(low, 1'009), stride = low / points;
    for (std::int64_t i = 0; i < points; ++i) expect_ln_within_bound({low + i * stride});
  }
}

RC_GTEST_PROP(Fixed, ExpAndLnNeverDecrease, ()) {
  Fixed x{*any_fixed(22)}, next{x.raw + 1};
  RC_ASSERT(exp(next) >= exp(x));
  Fixed y{*rc::gen::inRange<std::int64_t>(1, kMost) >> *rc::gen::inRange(0, 62)};
  RC_PRE(y.raw > 0 && y.raw < kMost);
  RC_ASSERT(ln(Fixed{y.raw + 1}) >= ln(y));
}

RC_GTEST_PROP(Fixed, LnUndoesExp, ()) {
  Fixed x{*rc::gen::inRange<std::int64_t>(0, 21 * Fixed::kOne)};
  RC_ASSERT(std::abs((ln(exp(x)) - x).raw) <= 1);
}

TEST(Fixed, ExpAndLnOfPlainNumbers) {
  EXPECT_EQ(exp(Fixed{}), Fixed::whole(1));
  EXPECT_EQ(ln(Fixed::whole(1)), Fixed{});
  EXPECT_EQ(exp(Fixed::whole(1)).raw, 11674931555);  // e
  EXPECT_EQ(ln(Fixed::whole(2)).raw, 2977044472);    // ln 2
  EXPECT_EQ(ln(Fixed{1}).raw, -95265423098);         // -32 ln 2
}

TEST(Fixed, ExpSaturates) {
  EXPECT_EQ(exp(kSaturatesFrom), Fixed::max());
  EXPECT_EQ(exp(Fixed::whole(22)), Fixed::max());
  EXPECT_EQ(exp(Fixed::max()), Fixed::max());
  EXPECT_LT(exp(Fixed::ratio(2148, 100)), Fixed::max());
  EXPECT_EQ(exp(Fixed::ratio(-2287, 100)).raw, 1);
  EXPECT_EQ(exp(Fixed::ratio(-2288, 100)).raw, 0);
  EXPECT_EQ(exp(Fixed{kLeast}).raw, 0);
}

TEST(Fixed, ScaledAmountsRoundToTheNearestMicroCredit) {
  EXPECT_EQ(scaled(micro_credits(3), Fixed::ratio(1, 2)), micro_credits(2));
  EXPECT_EQ(scaled(micro_credits(-3), Fixed::ratio(1, 2)), micro_credits(-2));
  EXPECT_EQ(scaled(micro_credits(5), Fixed::ratio(1, 4)), micro_credits(1));
  EXPECT_EQ(scaled(Price{1'000'000}, Fixed::ratio(-3, 2)), Price{-1'500'000});
  EXPECT_EQ(scaled(micro_credits(kMost), Fixed::whole(1)), micro_credits(kMost));
}

TEST(FixedDeathTest, ScaledAmountsStopAtOverflow) {
  EXPECT_DEATH(scaled(micro_credits(kMost), Fixed::whole(2)), "money overflow");
  EXPECT_DEATH(scaled(Price{kLeast}, Fixed::whole(-1)), "money overflow");
}

}  // namespace
}  // namespace abacus
