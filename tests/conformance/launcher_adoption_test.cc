// The agent dies and comes back: what went on without it, what is found, and what is told.
#include <gmock/gmock.h>

#include <optional>

#include "launcher_fixture.h"

namespace abacus::conformance {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(LauncherConformance, AFirstStartFindsNothing) { EXPECT_THAT(launcher.adopt().leases, IsEmpty()); }

TEST_P(LauncherConformance, WhatRunsOutlivesTheAgentAndIsFound) {
  LeaseId lease = launcher.open(), empty = launcher.open();
  launcher.launch(lease, 0, Deed{{}, 9});
  launcher.launch(lease, 1, kForEver);
  launcher.end(0);
  ASSERT_TRUE(launcher.starts_once(1));
  restart_after([] {});
  RunsAdopted adopted = launcher.adopt();
  ASSERT_THAT(adopted.leases, SizeIs(2)) << empty.to_string();
  ASSERT_TRUE(find(adopted, 0) != nullptr && find(adopted, 1) != nullptr);
  EXPECT_TRUE(find(adopted, 0)->ended);
  EXPECT_EQ(find(adopted, 0)->end.exit_code, 9);
  EXPECT_FALSE(find(adopted, 1)->ended);
  launcher.interrupt(lease, 1, seconds(10));
  EXPECT_EQ(launcher.end(1).kind, EndKind::cancelled) << "and is one's own as before";
  EXPECT_THAT(launcher.ends(0), IsEmpty()) << "what the inventory says is not said again";
  launcher.launch(lease, 2, Deed{});
  EXPECT_EQ(launcher.end(2).kind, EndKind::exited) << "the lease goes on";
}

TEST_P(LauncherConformance, WhatEndsMeanwhileIsToldOnceByInventoryOrEvent) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, Deed{milliseconds(300), 10});
  ASSERT_TRUE(launcher.starts_once(0));
  restart_after([&] { machines.a_while(); });
  std::optional<std::int32_t> exit_code;
  RunsAdopted adopted = launcher.adopt();
  ASSERT_NE(find(adopted, 0), nullptr);
  if (find(adopted, 0)->ended) exit_code = find(adopted, 0)->end.exit_code;
  ASSERT_TRUE(machines.until([&] { return exit_code || !launcher.ends(0).empty(); }));
  machines.a_while();
  EXPECT_EQ(launcher.ends(0).size(), exit_code ? 0u : 1u);
  EXPECT_EQ(exit_code ? *exit_code : launcher.ends(0)[0].end.exit_code, 10);
}

TEST_P(LauncherConformance, EndsStayKnownUntilTheyAreForgotten) {
  LeaseId lease = launcher.open();
  for (std::uint32_t i = 0; i < 2; ++i) launcher.launch(lease, i, Deed{});
  launcher.end(0), launcher.end(1);
  launcher.forget(lease, 0);
  ASSERT_TRUE(machines.until([&] { return find(launcher.adopt(), 0) == nullptr; }));
  for (int life = 0; life < 2; ++life) {
    restart_after([] {});
    RunsAdopted adopted = launcher.adopt();
    EXPECT_EQ(find(adopted, 0), nullptr);
    EXPECT_NE(find(adopted, 1), nullptr);
  }
}

TEST_P(LauncherConformance, WhatRunsIsNotForgotten) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, kForEver);
  ASSERT_TRUE(launcher.starts_once(0));
  launcher.forget(lease, 0);
  launcher.interrupt(lease, 0, seconds(10));
  EXPECT_EQ(launcher.end(0).kind, EndKind::cancelled);
}

TEST_P(LauncherConformance, AFailedStartIsFoundToo) {
  Deed impossible;
  impossible.can_start = false;
  launcher.launch(launcher.open(), 0, impossible);
  launcher.end(0);
  restart_after([] {});
  RunsAdopted adopted = launcher.adopt();
  ASSERT_NE(find(adopted, 0), nullptr);
  EXPECT_EQ(find(adopted, 0)->end.kind, EndKind::failed_to_start);
}

TEST_P(LauncherConformance, ALeaseThatBrokeMeanwhileIsTold) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, Deed{{}, 4});
  launcher.launch(lease, 1, kForEver);
  launcher.end(0);
  ASSERT_TRUE(launcher.starts_once(1));
  restart_after([&] { machines.kill_shim(0, lease); });
  RunsAdopted adopted = launcher.adopt();
  ASSERT_NE(find(adopted, 0), nullptr);
  EXPECT_EQ(find(adopted, 0)->end.exit_code, 4);
  EXPECT_EQ(find(adopted, 1), nullptr);
  auto lost = [&] { return launcher.notebook().heard<LeaseProcessLost>(); };
  ASSERT_TRUE(machines.until([&] { return !lost().empty(); }));
  EXPECT_EQ(lost()[0].lease, lease);
  launcher.launch(lease, 2, Deed{});
  EXPECT_EQ(launcher.end(2).kind, EndKind::lost);
}

TEST_P(LauncherConformance, AdoptingAgainFindsTheSame) {
  LeaseId lease = launcher.open();
  launcher.launch(lease, 0, kForEver);
  ASSERT_TRUE(launcher.starts_once(0));
  EXPECT_THAT(launcher.adopt().leases, SizeIs(1));
  EXPECT_THAT(launcher.adopt().leases.at(0).attempts, SizeIs(1));
  launcher.interrupt(lease, 0, seconds(10));
  EXPECT_EQ(launcher.end(0).kind, EndKind::cancelled);
}

}  // namespace
}  // namespace abacus::conformance
