// The controller: direction, bounds, restart, and stability against demand that answers late.
#include "core/pricing/multiplier.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

namespace abacus {
namespace {

MonoTime at(Duration since_start) { return MonoTime{} + since_start; }

TEST(Multiplier, RisesWhenFullAndFallsWhenEmpty) {
  Multiplier full({}, 1'000), empty({}, 1'000);
  full.observe(at({}), Fixed::whole(1));
  empty.observe(at({}), Fixed::whole(0));
  full.advance(at(seconds(5)));
  empty.advance(at(seconds(5)));
  EXPECT_GT(full.permille(), 1'000u);
  EXPECT_LT(empty.permille(), 1'000u);
  full.advance(at(hours(10)));
  empty.advance(at(hours(10)));
  EXPECT_EQ(full.permille(), 8'000u);
  EXPECT_EQ(empty.permille(), 300u);
}

TEST(Multiplier, HoldsStillAtTheTarget) {
  Multiplier m({}, 1'700);
  m.observe(at({}), Fixed::ratio(92, 100));
  for (int i = 1; i < 1'000; ++i) m.advance(at(seconds(i)));
  EXPECT_NEAR(m.permille(), 1'700, 1);
}

TEST(Multiplier, UnmetBidsCount) {
  Multiplier m({}, 1'000);
  m.observe(at({}), Fixed::ratio(90, 100));
  m.set_unmet(Fixed::ratio(10, 100));
  m.advance(at(seconds(10)));
  EXPECT_GT(m.permille(), 1'000u);
}

TEST(Multiplier, GoesOnFromItsPermille) {
  Multiplier before({}, 1'000);
  before.observe(at({}), Fixed::whole(1));
  before.advance(at(seconds(7)));
  EXPECT_EQ(Multiplier({}, before.permille()).permille(), before.permille());
  EXPECT_EQ(Multiplier({}, 0).permille(), 300u);
  EXPECT_EQ(Multiplier({}, 4'000'000'000).permille(), 8'000u);
}

TEST(Multiplier, TimeConstantIsBounded) {
  Multiplier m({}, 1'000);
  m.set_pace(milliseconds(1), milliseconds(1));
  EXPECT_EQ(m.time_constant(), seconds(5));
  m.set_pace(seconds(60), milliseconds(1));
  EXPECT_EQ(m.time_constant(), seconds(60));
  m.set_pace({}, seconds(10));
  EXPECT_EQ(m.time_constant(), seconds(40));
  m.set_pace(hours(100), hours(10'000));
  EXPECT_EQ(m.time_constant(), minutes(5));
}

/// Standard deviation of ln m in the second half of a loop in which demand answers to the price of `delay` ago: the
/// share wanted is 0.92 m^-elasticity (1.10 - u)^elasticity, scaled to meet the target at m = 2.
double swing(Duration delay, Duration service, double elasticity) {
  Multiplier m({}, 1'000);
  m.set_pace(service, delay);
  std::deque<double> prices;
  double u = 0.5;
  std::vector<double> logs;
  Duration tick = milliseconds(500);
  for (int i = 0; i < 20'000; ++i) {
    m.observe(at(tick * i), {static_cast<std::int64_t>(u * static_cast<double>(Fixed::kOne))});
    prices.push_back(m.value().to_double() / (1.10 - u));
    if (static_cast<std::int64_t>(prices.size()) > delay.ns / tick.ns + 1) prices.pop_front();
    double wanted = 0.92 * std::pow(prices.front() / (2.0 / 0.18), -elasticity);
    double rate = std::min(1.0, static_cast<double>(tick.ns) / static_cast<double>(service.ns));
    u += (std::min(wanted, 1.0) - u) * rate;
    if (i >= 10'000) logs.push_back(std::log(m.value().to_double()));
  }
  double mean = 0, square = 0;
  for (double x : logs) mean += x / static_cast<double>(logs.size());
  for (double x : logs) square += (x - mean) * (x - mean) / static_cast<double>(logs.size());
  EXPECT_NEAR(std::exp(mean), 2.0, 0.4);
  return std::sqrt(square);
}

TEST(Multiplier, SettlesThoughDemandAnswersLate) {
  EXPECT_LT(swing(milliseconds(500), seconds(2), 0.1), 0.05);
  EXPECT_LT(swing(seconds(3), seconds(2), 0.1), 0.05);
  EXPECT_LT(swing(seconds(10), seconds(60), 0.1), 0.05);
}

RC_GTEST_PROP(MultiplierProperty, StaysWithinItsBounds, ()) {
  Multiplier m({}, *rc::gen::inRange<std::uint32_t>(0, 10'000));
  MonoTime now{};
  for (int i = 0; i < 50; ++i) {
    now = now + Duration{*rc::gen::inRange<std::int64_t>(0, hours(3).ns)};
    m.set_unmet({*rc::gen::inRange<std::int64_t>(0, 100 * Fixed::kOne)});
    m.observe(now, {*rc::gen::inRange<std::int64_t>(0, Fixed::kOne + 1)});
    RC_ASSERT(m.permille() >= 300u);
    RC_ASSERT(m.permille() <= 8'000u);
  }
}

RC_GTEST_PROP(MultiplierProperty, OnlyTheTimeSpentCounts, ()) {
  // Many small observations of one share are the same as a single one, up to the size of a step.
  Multiplier often({}, 1'000), once({}, 1'000);
  Fixed share{*rc::gen::inRange<std::int64_t>(Fixed::kOne / 2, Fixed::kOne)};
  once.observe(at({}), share);
  for (int ms = 0; ms <= 2'000; ms += 10) often.observe(at(milliseconds(ms)), share);
  once.advance(at(seconds(2)));
  RC_ASSERT(std::abs(static_cast<int>(often.permille()) - static_cast<int>(once.permille())) < 60);
}

}  // namespace
}  // namespace abacus
