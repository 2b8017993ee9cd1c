// Durations and dates to and from text.
#include "base/time_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace abacus {
namespace {

TEST(TimeText, ReadsDurations) {
  EXPECT_EQ(parse_duration("90").value(), seconds(90));
  EXPECT_EQ(parse_duration("90s").value(), seconds(90));
  EXPECT_EQ(parse_duration("10m").value(), minutes(10));
  EXPECT_EQ(parse_duration("2 min 5 s").value(), seconds(125));
  EXPECT_EQ(parse_duration("1h30m").value(), minutes(90));
  EXPECT_EQ(parse_duration("1.5h").value(), minutes(90));
  EXPECT_EQ(parse_duration("250ms").value(), milliseconds(250));
  EXPECT_EQ(parse_duration("2d").value(), hours(48));
  EXPECT_EQ(parse_duration("0").value(), Duration{});
}

TEST(TimeText, RefusesOtherDurations) {
  for (const char* text : {"", "m", "-5s", "5 parsecs", "1m1h", "1m2m", "10m30", "1.h", "200y", "99999d", "1e3s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(TimeText, ReadsDates) {
  EXPECT_EQ(parse_wall_time("1970-01-01T00:00:00Z").value().ns, 0);
  EXPECT_EQ(parse_wall_time("2000-03-01 00:00").value().ns, 951'868'800LL * 1'000'000'000);
  EXPECT_EQ(parse_wall_time("2024-02-29T23:59:59").value().ns, 1'709'251'199LL * 1'000'000'000);
  for (const char* text : {"", "tomorrow", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-12-01T24:00:00Z",
                           "2026-12-01", "2026-12-01T00:00:00+01:00", "1969-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_wall_time(text)) << text;
  }
}

RC_GTEST_PROP(TimeText, DatesComeBack, (std::uint32_t second)) {
  WallTime time{static_cast<std::int64_t>(second) * 1'000'000'000};
  RC_ASSERT(parse_wall_time(utc_text(time)).value() == time);
}

RC_GTEST_PROP(TimeText, AnyTextIsReadOrRefused, (const std::string& text)) {
  if (auto duration = parse_duration(text)) RC_ASSERT(duration->ns >= 0);
  if (auto time = parse_wall_time(text)) RC_ASSERT(time->ns >= 0);
}

}  // namespace
}  // namespace abacus
