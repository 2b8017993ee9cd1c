// How an attempt is stopped: asked first, then killed, and what is told of it.
#include <gmock/gmock.h>
#include <signal.h>

#include "launcher_fixture.h"

namespace abacus::conformance {
namespace {

using ::testing::SizeIs;

TEST_P(LauncherConformance, AnInterruptionIsSigterm) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, kForEver);
  ASSERT_TRUE(launcher.starts_once(0));
  launcher.interrupt(lease, 0, hours(1));
  TaskEnd end = launcher.end(0);
  EXPECT_EQ(end.kind, EndKind::cancelled);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.exit_code, -1);
}

TEST_P(LauncherConformance, AfterTheGraceItIsSigkill) {
  Deed deaf = kForEver;
  deaf.deaf = true;
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, deaf);
  ASSERT_TRUE(launcher.starts_once(0) && machines.until([&] { return machines.is_deaf(); }));
  WallTime asked_at = launcher.notebook().turns().back().wall;
  launcher.interrupt(lease, 0, milliseconds(500));
  TaskEnd end = launcher.end(0);
  EXPECT_EQ(end.kind, EndKind::cancelled);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_GE(end.ended_at - asked_at, milliseconds(500));
}

TEST_P(LauncherConformance, OfTwoInterruptionsTheNearerEndCounts) {
  Deed deaf = kForEver;
  deaf.deaf = true;
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, deaf);
  ASSERT_TRUE(launcher.starts_once(0) && machines.until([&] { return machines.is_deaf(); }));
  launcher.interrupt(lease, 0, hours(2));
  launcher.interrupt(lease, 0, milliseconds(50));
  launcher.interrupt(lease, 0, hours(3));
  EXPECT_EQ(launcher.end(0).signal, SIGKILL);
}

TEST_P(LauncherConformance, WhatEndsByItselfWithinTheGraceWasInterruptedAllTheSame) {
  Deed deaf{seconds(2), 85, 0, true};
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, deaf);
  ASSERT_TRUE(launcher.starts_once(0) && machines.until([&] { return machines.is_deaf(); }));
  launcher.interrupt(lease, 0, hours(1));
  TaskEnd end = launcher.end(0);
  EXPECT_EQ(end.kind, EndKind::cancelled);
  EXPECT_EQ(end.exit_code, 85);
  EXPECT_EQ(end.signal, 0);
}

TEST_P(LauncherConformance, AnInterruptionMayComeBeforeTheStart) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, kForEver);
  launcher.interrupt(lease, 0, milliseconds(100));
  EXPECT_EQ(launcher.end(0).kind, EndKind::cancelled);
  EXPECT_LE(launcher.starts(0), 1u);
}

TEST_P(LauncherConformance, InterruptingWhatHasEndedOrIsUnknownDoesNothing) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, Deed{{}, 3});
  launcher.end(0);
  launcher.interrupt(lease, 0, {});
  launcher.interrupt(lease, 1, {});
  launcher.interrupt(LeaseId{{9}}, 2, {});
  machines.a_while();
  EXPECT_THAT(launcher.notebook().heard<ProcessEnded>(), SizeIs(1));
  EXPECT_EQ(launcher.adopt().leases.at(0).attempts.at(0).end.exit_code, 3);
}

}  // namespace
}  // namespace abacus::conformance
