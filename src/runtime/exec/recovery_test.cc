// Death on either side: agents that vanish and come back, shims that are killed, leases nobody returns to.
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "runtime/exec/executor_fixture.h"
#include "runtime/exec/shim_link.h"
#include "runtime/exec/shim_process.h"

namespace abacus {
namespace {

class RecoveryTest : public ExecutorFixture {
 protected:
  pid_t shim_of(const LeaseId& lease) { return read_shim_note(root_ + "/" + lease.to_string()).pid; }

  const FoundAttempt* find(const std::vector<FoundLease>& leases, const AttemptId& id) {
    for (const FoundLease& lease : leases) {
      for (const FoundAttempt& adopted : lease.attempts) {
        if (adopted.attempt == id) return &adopted;
      }
    }
    return nullptr;
  }

  int connect_raw(const LeaseId& lease) {
    SocketPath path(root_ + "/" + lease.to_string());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.path.copy(address.sun_path, sizeof address.sun_path - 1);
    int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
};

TEST_F(RecoveryTest, ANewExecutorAdoptsRunningAndEndedAttempts) {
  LeaseId lease = open();
  launch(shell(lease, 0, "exit 9"));
  launch(shell(lease, 1, "echo $$; until [ -e ../go ]; do sleep 0.05; done; exit 11"));
  launch(shell(lease, 2, "sleep 0.3; exit 10"));
  printed_pid(lease, 1);
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  executor_.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  make_executor();
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 1u);
  EXPECT_EQ(adopted[0].lease, lease);
  EXPECT_TRUE(adopted[0].live);
  ASSERT_EQ(adopted[0].attempts.size(), 3u);
  EXPECT_EQ(find(adopted, attempt(0))->record.exit_code, 9);
  ASSERT_TRUE(find(adopted, attempt(2))->ended) << "it ended while nobody listened";
  EXPECT_EQ(find(adopted, attempt(2))->record.exit_code, 10);
  EXPECT_FALSE(find(adopted, attempt(1))->ended);
  EXPECT_EQ(find(adopted, attempt(1))->pid, started_[attempt(1)].pid);
  std::ofstream(root_ + "/" + lease.to_string() + "/go") << "";
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(1)); }));
  EXPECT_EQ(ended_[attempt(1)].exit_code, 11);
  EXPECT_EQ(run(command(lease, 3, {"true"})).exit_code, 0) << "the lease goes on";
  EXPECT_EQ(run(shell(lease, 1, "exit 1")).exit_code, 11) << "and what ran is not run again";
}

TEST_F(RecoveryTest, WorkSurvivesTheAgentsKill) {
  LeaseId lease = open();  // Only for the id; the agent below opens its own.
  ASSERT_TRUE(executor_->end_lease(lease));
  ASSERT_TRUE(until([&] { return closed_.size() == 1; }));
  pid_t agent = ::fork();
  if (agent == 0) {
    boost::asio::io_context io;
    ProcessExecutor inner(io.get_executor(), {root_, default_shim_program(), minutes(5), seconds(10), report_},
                          [](const ExecEvent&) {});
    LeaseSpec spec{lease, WallTime{std::numeric_limits<std::int64_t>::max() / 2}, 2};
    if (!inner.open_lease(spec) || !inner.launch(shell(lease, 0, "echo $$; sleep 1.5; exit 12"))) ::_exit(1);
    io.run_for(std::chrono::minutes(5));
    ::_exit(1);
  }
  pid_t task = printed_pid(lease, 0);
  ASSERT_GT(task, 1);
  ::kill(agent, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(agent, &status, 0), agent);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(process_lives(task));
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 1u);
  ASSERT_NE(find(adopted, attempt(0)), nullptr);
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(ended_[attempt(0)].exit_code, 12);
}

TEST_F(RecoveryTest, AnAgentThatLostItsMemoryTakesItsOwnLeasesOverAgain) {
  LeaseId lease = open();
  launch(shell(lease, 0, "echo $$; until [ -e ../go ]; do sleep 0.05; done; exit 13"));
  pid_t task = printed_pid(lease, 0);
  bool first_answered = false;
  executor_->adopt([&](std::vector<FoundLease>) { first_answered = true; });
  auto adopted = adopt();
  EXPECT_FALSE(first_answered) << "nobody waits for it any more";
  ASSERT_EQ(adopted.size(), 1u);
  EXPECT_TRUE(adopted[0].live);
  EXPECT_TRUE(process_lives(task));
  std::ofstream(root_ + "/" + lease.to_string() + "/go") << "";
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(ended_[attempt(0)].exit_code, 13);
  EXPECT_TRUE(lost_.empty());
  EXPECT_EQ(run(command(lease, 1, {"true"})).exit_code, 0);
}

TEST_F(RecoveryTest, UnknownLeasesAreEnded) {
  LeaseId lease = open();
  launch(shell(lease, 0, "echo $$; sleep 600"));
  pid_t task = printed_pid(lease, 0);
  make_executor();
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 1u);
  ASSERT_TRUE(executor_->end_lease(adopted[0].lease));
  ASSERT_TRUE(until([&] { return closed_.size() == 1; }));
  EXPECT_FALSE(process_lives(task));
  EXPECT_TRUE(std::filesystem::is_empty(root_));
  EXPECT_THAT(cgroups(lease), ::testing::IsEmpty());
}

TEST_F(RecoveryTest, AKilledShimTakesItsTasksAlongAndIsReported) {
  for (bool with_groups : {true, false}) {
    if (!with_groups) {
      report_.branches.clear();
      make_executor();
    }
    lost_.clear(), ended_.clear(), closed_.clear();
    LeaseId lease = open();
    EXPECT_EQ(run(shell(lease, 0, "exit 13")).exit_code, 13);
    launch(shell(lease, 1, "setsid bash -c '(echo $BASHPID; while true; do sleep 0.1; done) & exit 0'; sleep 600"));
    pid_t daemon = printed_pid(lease, 1);
    ASSERT_TRUE(until([&] { return started_.contains(attempt(1)); }));
    pid_t task = static_cast<pid_t>(started_[attempt(1)].pid);
    ASSERT_TRUE(process_lives(daemon) && process_lives(task));
    ::kill(shim_of(lease), SIGKILL);
    ASSERT_TRUE(until([&] { return lost_.size() == 1; }));
    EXPECT_EQ(lost_[0].lease, lease);
    EXPECT_FALSE(process_lives(daemon));
    EXPECT_FALSE(process_lives(task));
    EXPECT_FALSE(ended_.contains(attempt(1)));
    EXPECT_THAT(cgroups(lease), ::testing::IsEmpty());
    EXPECT_EQ(executor_->launch(command(lease, 2, {"true"})).error().code, ErrorCode::not_found);
    ASSERT_TRUE(executor_->end_lease(lease));
    ASSERT_TRUE(until([&] { return closed_.size() == 1; }));
    started_.clear();
  }
}

TEST_F(RecoveryTest, AShimThatDiedWhileTheAgentWasAwayIsClearedUp) {
  LeaseId lease = open();
  run(shell(lease, 0, "exit 14"));
  launch(shell(lease, 1, "setsid bash -c '(echo $BASHPID; while true; do sleep 0.1; done) & exit 0'; sleep 600"));
  pid_t daemon = printed_pid(lease, 1);
  pid_t shim = shim_of(lease);
  executor_.reset();
  ::kill(shim, SIGKILL);
  make_executor();
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 1u);
  EXPECT_FALSE(adopted[0].live);
  ASSERT_EQ(adopted[0].attempts.size(), 1u);
  EXPECT_EQ(adopted[0].attempts[0].record.exit_code, 14);
  EXPECT_FALSE(process_lives(daemon));
  EXPECT_THAT(cgroups(lease), ::testing::IsEmpty());
}

TEST_F(RecoveryTest, ALeaseNobodyReturnsToEndsByItself) {
  orphan_limit_ = milliseconds(300);
  make_executor();
  LeaseId lease = open(4, milliseconds(500));
  LaunchSpec spec = shell(lease, 0, "trap '' TERM; echo $$; while true; do sleep 0.1; done");
  launch(spec);
  pid_t task = printed_pid(lease, 0);
  pid_t shim = shim_of(lease);
  ASSERT_FALSE(until([&] { return !lost_.empty(); }, std::chrono::milliseconds(1200)))
      << "the agent decides while it is there";
  executor_.reset();
  for (int i = 0; i < 500 && process_lives(shim); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(process_lives(shim));
  EXPECT_FALSE(process_lives(task));
  EXPECT_THAT(cgroups(lease), ::testing::IsEmpty()) << "even its cgroups are gone";
  make_executor();
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 1u);
  ASSERT_EQ(adopted[0].attempts.size(), 1u) << "the records wait";
  EXPECT_TRUE(adopted[0].attempts[0].record.interrupted);
}

TEST_F(RecoveryTest, AnExtendedLeaseWaitsLonger) {
  orphan_limit_ = milliseconds(100);
  make_executor();
  LeaseId lease = open(4, milliseconds(300));
  ASSERT_TRUE(executor_->extend_lease(lease, WallTime{std::numeric_limits<std::int64_t>::max() / 2}));
  EXPECT_EQ(executor_->extend_lease(LeaseId{}, {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(run(command(lease, 0, {"true"})).exit_code, 0) << "the shim has heard all before this";
  executor_.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  make_executor();
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 1u);
  EXPECT_TRUE(adopted[0].live);
}

TEST_F(RecoveryTest, AShimThatHangsIsEndedByForce) {
  answer_limit_ = milliseconds(500);
  make_executor();
  LeaseId lease = open();
  launch(shell(lease, 0, "echo $$; sleep 600"));
  pid_t task = printed_pid(lease, 0);
  ::kill(shim_of(lease), SIGSTOP);
  ASSERT_TRUE(executor_->end_lease(lease));
  ASSERT_TRUE(until([&] { return closed_.size() == 1; }));
  EXPECT_FALSE(process_lives(task));
  EXPECT_TRUE(std::filesystem::is_empty(root_));
}

TEST_F(RecoveryTest, AShimThatHangsDoesNotStopTheAdoption) {
  LeaseId lease = open();
  launch(shell(lease, 0, "echo $$; sleep 600"));
  pid_t task = printed_pid(lease, 0);
  ::kill(shim_of(lease), SIGSTOP);
  answer_limit_ = milliseconds(500);
  make_executor();
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 1u);
  EXPECT_FALSE(adopted[0].live);
  EXPECT_FALSE(process_lives(task));
}

TEST_F(RecoveryTest, MalformedMessagesHarmNobody) {
  LeaseId lease = open();
  launch(shell(lease, 0, "until [ -e ../go ]; do sleep 0.05; done; exit 15"));
  ASSERT_TRUE(until([&] { return started_.contains(attempt(0)); }));
  const std::string junk[] = {std::string("\xff\xff\xff\xff", 4), std::string("\0\0\0\0", 4), "GET / HTTP/1.1\r\n\r\n",
                              std::string("\x02\0\0\0\x02\x01", 6), std::string(100'000, '\x05')};
  for (const std::string& bytes : junk) {
    // The shim serves the latest connection; ours breaks, and the executor comes back by itself.
    int fd = connect_raw(lease);
    (void)!::write(fd, bytes.data(), bytes.size());
    ::close(fd);
    until([] { return false; }, std::chrono::milliseconds(50));
  }
  std::ofstream(root_ + "/" + lease.to_string() + "/go") << "";
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(ended_[attempt(0)].exit_code, 15);
  EXPECT_EQ(run(command(lease, 1, {"true"})).exit_code, 0);
  EXPECT_EQ(starts_, 2) << "a repeated listing is not reported twice";
  EXPECT_THAT(lost_, ::testing::IsEmpty());
}

TEST_F(RecoveryTest, ManyLeasesComeBack) {
  std::vector<LeaseId> leases;
  for (std::uint32_t i = 0; i < 8; ++i) {
    leases.push_back(open());
    launch(command(leases.back(), i, {"sleep", "600"}));
  }
  ASSERT_TRUE(until([&] { return started_.size() == 8; }));
  make_executor();
  auto adopted = adopt();
  ASSERT_EQ(adopted.size(), 8u);
  for (const FoundLease& lease : adopted) EXPECT_EQ(lease.attempts.size(), 1u);
}

}  // namespace
}  // namespace abacus
