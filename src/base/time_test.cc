// Time: arithmetic, separate clocks, text for people.
#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <type_traits>

namespace abacus {
namespace {

static_assert(!std::is_convertible_v<MonoTime, WallTime>, "the two clocks must not mix");
static_assert(hours(1) == minutes(60) && minutes(1) == seconds(60) && seconds(1) == milliseconds(1'000));
static_assert(milliseconds(1) == microseconds(1'000) && microseconds(1) == nanoseconds(1'000));

RC_GTEST_PROP(Time, InstantsAndDurationsAgree, ()) {
  auto small = rc::gen::inRange<std::int64_t>(-1'000'000'000'000'000, 1'000'000'000'000'000);
  MonoTime start{*small};
  Duration span{*small};
  RC_ASSERT((start + span) - start == span);
  RC_ASSERT((start + span) - span == start);
  RC_ASSERT(((start + span) > start) == (span > Duration{}));
}

TEST(Time, UnitsTruncateTowardsZero) {
  EXPECT_EQ(nanoseconds(1'999'999'999).s(), 1);
  EXPECT_EQ(nanoseconds(-1'999'999'999).s(), -1);
  EXPECT_EQ(microseconds(2'500).ms(), 2);
  EXPECT_EQ(nanoseconds(2'500).us(), 2);
  EXPECT_EQ(seconds(7) / 2, milliseconds(3'500));
  EXPECT_EQ(seconds(7) * 2, seconds(14));
}

TEST(Time, TextForPeople) {
  EXPECT_EQ(to_string(nanoseconds(0)), "0 ns");
  EXPECT_EQ(to_string(nanoseconds(999)), "999 ns");
  EXPECT_EQ(to_string(nanoseconds(1'050)), "1.05 us");
  EXPECT_EQ(to_string(nanoseconds(10'050)), "10 us");
  EXPECT_EQ(to_string(microseconds(1)), "1 us");
  EXPECT_EQ(to_string(microseconds(1'500)), "1.5 ms");
  EXPECT_EQ(to_string(seconds(3)), "3 s");
  EXPECT_EQ(to_string(milliseconds(-3'140)), "-3.14 s");
  EXPECT_EQ(to_string(seconds(125)), "2 min 5 s");
  EXPECT_EQ(to_string(minutes(61)), "1 h 1 min");
  EXPECT_EQ(to_string(hours(50)), "50 h 0 min");
}

TEST(Time, TextJustBelowAUnitDoesNotSpillOver) {
  EXPECT_EQ(to_string(nanoseconds(999'999)), "999 us");
  EXPECT_EQ(to_string(microseconds(999'999)), "999 ms");
  EXPECT_EQ(to_string(milliseconds(59'999)), "59.9 s");
  EXPECT_EQ(to_string(milliseconds(119'999)), "1 min 59 s");
}

TEST(Time, TextOfTheLongestSpans) {
  EXPECT_EQ(to_string(Duration{std::numeric_limits<std::int64_t>::max()}), "2562047 h 47 min");
  EXPECT_EQ(to_string(Duration{std::numeric_limits<std::int64_t>::min()}), "-2562047 h 47 min");
}

}  // namespace
}  // namespace abacus
