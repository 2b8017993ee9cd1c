// Money: exact arithmetic, stops at overflow, rounding of costs, text both ways.
#include "base/money.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace abacus {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Money, ArithmeticIsThatOfIntegers) {
  EXPECT_EQ(credits(2) + micro_credits(5), micro_credits(2'000'005));
  EXPECT_EQ(credits(2) - credits(3), credits(-1));
  EXPECT_EQ(credits(2) * -3, credits(-6));
  EXPECT_EQ(-credits(2), credits(-2));
  Money sum = credits(1);
  sum += credits(4);
  sum -= credits(2);
  EXPECT_EQ(sum, credits(3));
  EXPECT_LT(credits(-1), credits(0));
}

TEST(MoneyDeathTest, OverflowStops) {
  EXPECT_DEATH(micro_credits(kMost) + micro_credits(1), "money overflow");
  EXPECT_DEATH(micro_credits(kLeast) - micro_credits(1), "money overflow");
  EXPECT_DEATH(micro_credits(kMost) * 2, "money overflow");
  EXPECT_DEATH(-micro_credits(kLeast), "money overflow");
  EXPECT_DEATH(Price{kMost} + Price{1}, "money overflow");
}

TEST(Money, CostOfRoundsUp) {
  EXPECT_EQ(cost_of(Price{100}, 3, seconds(2)), micro_credits(600));
  EXPECT_EQ(cost_of(Price{1}, 1, nanoseconds(1)), micro_credits(1));
  EXPECT_EQ(cost_of(Price{1}, 1, seconds(1) + nanoseconds(1)), micro_credits(2));
  EXPECT_EQ(cost_of(Price{100}, 0, hours(1)), micro_credits(0));
  EXPECT_EQ(cost_of(Price{100}, 5, seconds(0)), micro_credits(0));
}

TEST(Money, CostOfNegativePriceRoundsUpTowardsZero) {
  EXPECT_EQ(cost_of(Price{-1}, 1, nanoseconds(1)), micro_credits(0));
  EXPECT_EQ(cost_of(Price{-3}, 1, milliseconds(1500)), micro_credits(-4));
}

TEST(MoneyDeathTest, CostOfStopsAtNonsenseAndOverflow) {
  EXPECT_DEATH(cost_of(Price{1}, -1, seconds(1)), "CHECK failed");
  EXPECT_DEATH(cost_of(Price{1}, 1, seconds(-1)), "CHECK failed");
  EXPECT_DEATH(cost_of(Price{kMost}, 2, seconds(1)), "money overflow");
  EXPECT_DEATH(cost_of(Price{1}, kMost, seconds(1)), "overflow");
}

/// Charging a lease in parts must cost at least the whole, and at most one micro-credit a part more.
RC_GTEST_PROP(Money, CostOfPartsStaysCloseToTheWhole, ()) {
  Price price{*rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000'000)};
  std::int64_t slots = *rc::gen::inRange<std::int64_t>(0, 1'000);
  auto parts = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 3'600'000'000'000));
  Duration whole;
  Money sum;
  for (std::int64_t ns : parts) {
    whole += nanoseconds(ns);
    sum += cost_of(price, slots, nanoseconds(ns));
  }
  Money once = cost_of(price, slots, whole);
  RC_ASSERT(sum >= once);
  RC_ASSERT(sum - once <= micro_credits(static_cast<std::int64_t>(parts.size())));
}

TEST(Money, TextShowsTwoToSixDecimals) {
  EXPECT_EQ(to_string(credits(3)), "3.00 cr");
  EXPECT_EQ(to_string(micro_credits(12'345'678)), "12.345678 cr");
  EXPECT_EQ(to_string(micro_credits(500'000)), "0.50 cr");
  EXPECT_EQ(to_string(micro_credits(1)), "0.000001 cr");
  EXPECT_EQ(to_string(micro_credits(-1'250'000)), "-1.25 cr");
  EXPECT_EQ(to_string(micro_credits(kLeast)), "-9223372036854.775808 cr");
}

TEST(Money, PriceIsShownByTheHour) {
  EXPECT_EQ(to_string(Price{100}), "0.36 cr/h");
  EXPECT_EQ(to_string(Price{0}), "0 cr/h");
}

RC_GTEST_PROP(Money, ParseIsTheInverseOfText, ()) {
  Money money{*rc::gen::inRange<std::int64_t>(-9'000'000'000'000'000'000, 9'000'000'000'000'000'000)};
  std::string text = to_string(money);
  text.resize(text.size() - 3);  // without " cr"
  Result<Money> back = parse_money(text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == money);
}

TEST(Money, ParseTakesPlainDecimals) {
  EXPECT_EQ(parse_money("2").value(), credits(2));
  EXPECT_EQ(parse_money("0.25").value(), micro_credits(250'000));
  EXPECT_EQ(parse_money("-1.5").value(), micro_credits(-1'500'000));
  EXPECT_EQ(parse_money("0.000001").value(), micro_credits(1));
  EXPECT_EQ(parse_money("9223372036854.775807").value(), micro_credits(kMost));
}

TEST(Money, ParseRefusesEverythingElseAndSaysWhatIsRight) {
  for (const char* text : {"",
                           "-",
                           ".",
                           "-.",
                           ".5",
                           "5.",
                           "1.2.3",
                           "--1",
                           "+1",
                           "1e3",
                           "1,5",
                           " 1",
                           "1 ",
                           "0x1",
                           "1.0000001",
                           "9223372036854.775808",
                           "99999999999999999999",
                           "1 cr",
                           "nan",
                           "inf"}) {
    Result<Money> result = parse_money(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::invalid) << text;
    EXPECT_NE(result.error().message.find("credits with at most six decimals"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace abacus
