// A task's life and that of its lease: simulated processes, and real ones under their shims.
#include <gmock/gmock.h>
#include <signal.h>

#include "launcher_fixture.h"

namespace abacus::conformance {
namespace {

using ::testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Port, LauncherConformance,
                         ::testing::Values(Realm{"Simulated", simulated_machines}, Realm{"Shim", real_machines}),
                         name_of_realm);

TEST_P(LauncherConformance, StartsAndThenEndsWithItsExitCode) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, Deed{});
  launcher.launch(lease, 1, Deed{milliseconds(20), 7});
  TaskEnd good = launcher.end(0), bad = launcher.end(1);
  EXPECT_EQ(good.kind, EndKind::exited);
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_LE(good.started_at, good.ended_at);
  EXPECT_EQ(bad.kind, EndKind::exited);
  EXPECT_EQ(bad.exit_code, 7);
  EXPECT_EQ(bad.signal, 0);
  EXPECT_EQ(launcher.starts(0), 1u);
  EXPECT_EQ(launcher.starts(1), 1u);
}

TEST_P(LauncherConformance, ItsStartIsToldBeforeItsEnd) {
  launcher.launch(launcher.open(), 0, Deed{});
  launcher.end(0);
  std::vector<std::string> told;
  for (const Event& event : launcher.notebook().events()) told.push_back(name_of(event));
  EXPECT_THAT(told, ::testing::IsSupersetOf({"ProcessStarted", "ProcessEnded"}));
  EXPECT_LT(std::find(told.begin(), told.end(), "ProcessStarted"), std::find(told.begin(), told.end(), "ProcessEnded"));
}

TEST_P(LauncherConformance, TellsTheSignalThatEndedIt) {
  launcher.launch(launcher.open(), 0, Deed{{}, 0, SIGSEGV});
  TaskEnd end = launcher.end(0);
  EXPECT_EQ(end.kind, EndKind::signalled);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.exit_code, -1);
}

TEST_P(LauncherConformance, SaysThatACommandCannotBeStarted) {
  Deed impossible;
  impossible.can_start = false;
  launcher.launch(launcher.open(), 0, impossible);
  TaskEnd end = launcher.end(0);
  EXPECT_EQ(end.kind, EndKind::failed_to_start);
  EXPECT_EQ(end.exit_code, -1);
  EXPECT_NE(end.message, "");
  EXPECT_EQ(launcher.starts(0), 0u);
}

TEST_P(LauncherConformance, EndsByItsTimeLimit) {
  Launch launch = launcher.launch_of(launcher.open(), 0, kForEver);
  launch.work.time_limit = milliseconds(300);
  launcher.notebook().ask(launch);
  TaskEnd end = launcher.end(0);
  EXPECT_EQ(end.kind, EndKind::timed_out);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_GE(end.ended_at - end.started_at, launch.work.time_limit);
}

TEST_P(LauncherConformance, RunsOnceHoweverOftenItIsLaunched) {
  LeaseId lease = launcher.open();
  Launch launch = launcher.launch_of(lease, 0, kForEver);
  launcher.notebook().ask(launch);
  ASSERT_TRUE(machines.until([&] { return launcher.starts(0) > 0; }));
  std::size_t told = launcher.starts(0);
  WallTime started_at = launcher.notebook().heard<ProcessStarted>().front().at;
  launcher.notebook().ask(launch);
  ASSERT_TRUE(machines.until([&] { return launcher.starts(0) > told; })) << "its state is told anew";
  EXPECT_EQ(launcher.notebook().heard<ProcessStarted>().back().at, started_at) << "it is the same process";
  launcher.interrupt(lease, 0, seconds(10));
  launcher.end(0);
  launcher.notebook().ask(launch);
  ASSERT_TRUE(machines.until([&] { return launcher.ends(0).size() == 2; })) << "its end too";
  EXPECT_EQ(launcher.ends(0)[1].end.ended_at, launcher.ends(0)[0].end.ended_at);
}

TEST_P(LauncherConformance, RunsNoMoreAtOnceThanTheLeaseHasSlots) {
  LeaseId lease = launcher.open(1);
  launcher.launch(lease, 0, kForEver);
  launcher.launch(lease, 1, Deed{});
  EXPECT_EQ(launcher.end(1).kind, EndKind::failed_to_start);
  launcher.interrupt(lease, 0, seconds(10));
  launcher.end(0);
  launcher.launch(lease, 2, Deed{});
  EXPECT_EQ(launcher.end(2).kind, EndKind::exited) << "the slot is free again";
}

TEST_P(LauncherConformance, NothingRunsOutsideAnOpenLease) {
  LeaseId closed = launcher.open();
  launcher.notebook().ask(CloseLease{closed});
  launcher.launch(closed, 0, Deed{});
  launcher.launch(LeaseId{{9}}, 1, Deed{});
  EXPECT_EQ(launcher.end(0).kind, EndKind::lost);
  EXPECT_EQ(launcher.end(1).kind, EndKind::lost);
  EXPECT_EQ(launcher.starts(0) + launcher.starts(1), 0u);
}

TEST_P(LauncherConformance, OpeningALeaseTwiceIsHarmless) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, kForEver);
  ASSERT_TRUE(launcher.starts_once(0));
  launcher.notebook().ask(OpenLease{lease, machines.contact(0).node, 1, {}});
  launcher.launch(lease, 1, Deed{});
  EXPECT_EQ(launcher.end(1).kind, EndKind::exited);
  EXPECT_THAT(launcher.ends(0), IsEmpty());
  EXPECT_THAT(launcher.notebook().heard<LeaseProcessLost>(), IsEmpty());
}

// ---- the end of a lease ---------------------------------------------------------------------------------------------

TEST_P(LauncherConformance, ClosingALeaseEndsWhatRunsInItWithoutAWord) {
  LeaseId lease = launcher.open(), other = launcher.open();
  launcher.launch(lease, 0, kForEver);
  launcher.launch(other, 1, kForEver);
  ASSERT_TRUE(launcher.starts_once(0) && launcher.starts_once(1));
  launcher.notebook().ask(CloseLease{lease});
  launcher.notebook().ask(CloseLease{LeaseId{{9}}});
  machines.a_while();
  EXPECT_THAT(launcher.ends(0), IsEmpty());
  EXPECT_THAT(launcher.notebook().heard<LeaseProcessLost>(), IsEmpty());
  auto only_other_is_left = [&] {
    launcher.notebook().ask(CloseLease{lease});  // As a node does with what it finds and does not want.
    RunsAdopted adopted = launcher.adopt();
    return adopted.leases.size() == 1 && adopted.leases[0].lease == other;
  };
  ASSERT_TRUE(machines.until(only_other_is_left));
  EXPECT_FALSE(find(launcher.adopt(), 1)->ended) << "a neighbour's work goes on";
}

TEST_P(LauncherConformance, TheDeathOfAShimIsToldAndTakesItsTasksAlong) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, Deed{{}, 5});
  launcher.end(0);
  launcher.launch(lease, 1, kForEver);
  ASSERT_TRUE(launcher.starts_once(1));
  machines.kill_shim(0, lease);
  auto lost = [&] { return launcher.notebook().heard<LeaseProcessLost>(); };
  ASSERT_TRUE(machines.until([&] { return !lost().empty(); }));
  EXPECT_EQ(lost()[0].lease, lease);
  EXPECT_THAT(launcher.ends(1), IsEmpty());
  launcher.launch(lease, 2, Deed{});
  EXPECT_EQ(launcher.end(2).kind, EndKind::lost) << "nothing starts in it any more";
  RunsAdopted adopted = launcher.adopt();
  ASSERT_NE(find(adopted, 0), nullptr) << "what had ended stays known";
  EXPECT_EQ(find(adopted, 0)->end.exit_code, 5);
  EXPECT_EQ(find(adopted, 1), nullptr);
}

}  // namespace
}  // namespace abacus::conformance
