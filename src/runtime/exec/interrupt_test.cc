// Stopping: SIGTERM to everyone, grace, SIGKILL to everyone, and nothing left behind, with and without a cgroup.
#include "runtime/exec/executor_fixture.h"

namespace abacus {
namespace {

/// A daemon as people write them: forked twice, in a session of its own, deaf to SIGTERM; prints its pid, then
/// leaves a file.
constexpr char kDaemon[] =
    "setsid bash -c '(trap \"\" TERM; echo $BASHPID; touch started; while true; do sleep 0.1; done) </dev/null "
    "2>/dev/null & exit 0'";

class InterruptTest : public ExecutorFixture, public ::testing::WithParamInterface<Limits> {
 protected:
  LaunchSpec task(const LeaseId& lease, std::uint32_t index, const std::string& script) {
    LaunchSpec spec = shell(lease, index, script);
    spec.limits = GetParam();
    return spec;
  }
};

INSTANTIATE_TEST_SUITE_P(Limits, InterruptTest, ::testing::Values(Limits::none, Limits::cgroup),
                         [](const auto& given) { return given.param == Limits::none ? "none" : "cgroup"; });

TEST_P(InterruptTest, LeavesTimeToEnd) {
  LeaseId lease = open();
  launch(task(lease, 0, "trap 'sleep 0.2; echo saved; exit 85' TERM; echo ready; while true; do sleep 0.02; done"));
  ASSERT_TRUE(until([&] { return out(lease, 0) == "ready\n"; }));
  ASSERT_TRUE(executor_->interrupt(attempt(0), seconds(30)));
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(ended_[attempt(0)].exit_code, 85);
  EXPECT_TRUE(ended_[attempt(0)].interrupted);
  EXPECT_EQ(out(lease, 0), "ready\nsaved\n");
}

TEST_P(InterruptTest, ReachesEveryProcessOfTheTask) {
  LeaseId lease = open();
  // The shell dies of SIGTERM at once; its child, in a session of its own, still gets the signal and its time.
  launch(task(lease, 0,
              "setsid bash -c 'trap \"sleep 0.2; echo saved; exit 0\" TERM; echo ready; "
              "while true; do sleep 0.02; done' & wait"));
  ASSERT_TRUE(until([&] { return out(lease, 0) == "ready\n"; }));
  ASSERT_TRUE(executor_->interrupt(attempt(0), seconds(30)));
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(out(lease, 0), "ready\nsaved\n");
}

TEST_P(InterruptTest, KillsATreeThatIgnoresItAfterTheGrace) {
  LeaseId lease = open();
  launch(task(lease, 0, std::string("trap '' TERM; ") + kDaemon + "; while true; do sleep 0.1; done"));
  pid_t daemon = printed_pid(lease, 0);
  ASSERT_TRUE(process_lives(daemon));
  pid_t main_process = static_cast<pid_t>(started_[attempt(0)].pid);
  ASSERT_TRUE(executor_->interrupt(attempt(0), milliseconds(400)));
  ASSERT_FALSE(until([&] { return ended_.contains(attempt(0)); }, std::chrono::milliseconds(250))) << "grace is kept";
  EXPECT_TRUE(process_lives(daemon));
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(ended_[attempt(0)].signal, SIGKILL);
  EXPECT_FALSE(process_lives(daemon));
  EXPECT_FALSE(process_lives(main_process));
}

TEST_P(InterruptTest, KillsWhatLingersAfterTheMainProcess) {
  LeaseId lease = open();
  launch(task(lease, 0, std::string(kDaemon) + "; sleep 600 & until [ -e started ]; do sleep 0.01; done; exit 5"));
  launch(task(lease, 1, std::string(kDaemon) + "; while true; do sleep 0.1; done"));
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(ended_[attempt(0)].exit_code, 5);
  EXPECT_FALSE(ended_[attempt(0)].interrupted);
  pid_t neighbour = printed_pid(lease, 1);
  pid_t own = printed_pid(lease, 0);
  EXPECT_FALSE(process_lives(own));
  EXPECT_TRUE(process_lives(neighbour)) << "a neighbour's daemon is not touched";
}

TEST_P(InterruptTest, KillsADaemonThatHidItsOrigin) {
  LeaseId lease = open();
  launch(task(lease, 0, "env -i setsid bash -c '(echo $BASHPID; exec sleep 600) & exit 0'; exit 0"));
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  // Without a group it cannot be told from a neighbour's, so it dies once the lease runs nothing: here, at once.
  pid_t hidden = std::atoi(out(lease, 0).c_str());
  EXPECT_TRUE(hidden <= 0 || until([&] { return !process_lives(hidden); }));
}

TEST_P(InterruptTest, KillsAForkStorm) {
  LeaseId lease = open();
  LaunchSpec spec = task(
      lease, 0, "trap '' TERM; for i in 1 2 3 4; do (while true; do (sleep 0.01 &) ; sleep 0.002; done) & done; wait");
  spec.time_limit = milliseconds(500);
  spec.grace = milliseconds(100);
  ExitRecord record = run(spec);
  EXPECT_TRUE(record.timed_out);
  EXPECT_EQ(record.signal, SIGKILL);
}

TEST_P(InterruptTest, TheNearerOfTwoKillTimesCounts) {
  LeaseId lease = open();
  launch(task(lease, 0, "trap '' TERM; echo ready; while true; do sleep 0.05; done"));
  ASSERT_TRUE(until([&] { return out(lease, 0) == "ready\n"; }));
  ASSERT_TRUE(executor_->interrupt(attempt(0), minutes(10)));
  ASSERT_TRUE(executor_->interrupt(attempt(0), milliseconds(50)));
  EXPECT_TRUE(until([&] { return ended_.contains(attempt(0)); }, std::chrono::seconds(30)));
}

TEST_P(InterruptTest, MayComeRightAfterTheLaunch) {
  LeaseId lease = open();
  for (std::uint32_t i = 0; i < 4; ++i) {
    launch(task(lease, i, "sleep 600"));
    ASSERT_TRUE(executor_->interrupt(attempt(i), milliseconds(200)));
  }
  ASSERT_TRUE(until([&] { return ends_ == 4; }));
  for (const auto& [id, record] : ended_) EXPECT_NE(record.signal, 0) << id.to_string();
}

}  // namespace
}  // namespace abacus
