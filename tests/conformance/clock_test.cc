// Time as it comes to core: virtual, and from the system's clocks.
#include "clock_port.h"

namespace abacus::conformance {
namespace {

class ClockConformance : public ::testing::TestWithParam<Realm> {
 protected:
  void expect_never_back() {
    const auto& turns = clock.notebook().turns();
    for (std::size_t i = 1; i < turns.size(); ++i) ASSERT_GE(turns[i].mono, turns[i - 1].mono);
  }

  /// Armed for a moment from now, and the wall clock stepped meanwhile.
  void expect_woken_in_time(Duration step) {
    MonoTime due = clock.now().mono + milliseconds(400);
    WallTime wall = clock.now().wall;
    std::size_t turns = clock.arm(due);
    clock.machines().step_wall(step);
    std::optional<Now> woken = clock.turn_after(turns);
    ASSERT_TRUE(woken.has_value()) << "it slept on";
    EXPECT_GE(woken->mono, due);
    EXPECT_GE(woken->wall, wall + step + milliseconds(400)) << "the wall clock was stepped and went on";
  }

  ClockPort clock{GetParam().make(1)};
};

INSTANTIATE_TEST_SUITE_P(Port, ClockConformance,
                         ::testing::Values(Realm{"Simulated", simulated_machines}, Realm{"System", real_machines}),
                         name_of_realm);

TEST_P(ClockConformance, MonotonicTimeNeverGoesBack) {
  ASSERT_TRUE(clock.turn_after(50).has_value());
  expect_never_back();
  MonoTime last = clock.now().mono;
  clock.machines().stop(0);
  clock.machines().start(0);
  EXPECT_GE(clock.notebook().turns().front().mono, last) << "nor from one life to the next";
}

TEST_P(ClockConformance, WakesNotBeforeTheTime) { expect_woken_in_time({}); }

TEST_P(ClockConformance, WakesInTimeThoughTheWallClockGoesBack) {
  expect_woken_in_time(minutes(-10));
  expect_never_back();
}

TEST_P(ClockConformance, WakesNotBeforeTheTimeThoughTheWallClockGoesForward) {
  expect_woken_in_time(minutes(10));
  expect_never_back();
}

TEST_P(ClockConformance, WhatIsDueAlreadyWakesAtOnce) {
  std::size_t turns = clock.arm(clock.now().mono - seconds(1));
  EXPECT_TRUE(clock.turn_after(turns).has_value());
  expect_never_back();
}

TEST_P(ClockConformance, ANearerTimeOvertakesAFartherOne) {
  clock.arm(clock.now().mono + hours(24));
  clock.machines().at(0).ask(AdoptRuns{});  // Its answer makes a turn, in which the nearer time is seen.
  MonoTime due = clock.now().mono + milliseconds(100);
  std::size_t turns = clock.arm(due);
  EXPECT_TRUE(clock.turn_after(turns).has_value()) << "it sleeps until tomorrow";
}

}  // namespace
}  // namespace abacus::conformance
