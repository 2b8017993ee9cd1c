// One task's life: exit status, launch errors, output, working directory, duplicates, forgetting, closing.
#include "runtime/exec/process_executor.h"

#include "runtime/exec/executor_fixture.h"

namespace abacus {
namespace {

class ProcessExecutorTest : public ExecutorFixture {};

TEST_F(ProcessExecutorTest, ReportsExitCodesAndOutput) {
  LeaseId lease = open();
  ExitRecord good = run(shell(lease, 0, "echo hello; echo sorry >&2; pwd"));
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.signal, 0);
  EXPECT_EQ(good.launch_error, "");
  AttemptPaths paths = executor_->paths(lease, attempt(0));
  EXPECT_EQ(out(lease, 0), "hello\n" + paths.work + "\n");
  EXPECT_EQ(read_file(paths.err), "sorry\n");
  EXPECT_EQ(good.stdout_bytes, out(lease, 0).size());
  EXPECT_FALSE(good.stdout_truncated);
  EXPECT_GT(good.started.ns, 0);
  EXPECT_GT(good.ended, good.started);
  EXPECT_GT(good.peak_memory_bytes, 500'000u);
  EXPECT_EQ(run(shell(lease, 1, "exit 85")).exit_code, 85);
  EXPECT_EQ(starts_, 2);
}

TEST_F(ProcessExecutorTest, ReportsSignals) {
  LeaseId lease = open();
  ExitRecord record = run(shell(lease, 0, "kill -SEGV $$"));
  EXPECT_EQ(record.signal, SIGSEGV);
  EXPECT_EQ(record.exit_code, -1);
}

TEST_F(ProcessExecutorTest, SaysWhyNothingRuns) {
  LeaseId lease = open();
  ExitRecord missing = run(command(lease, 0, {"no-such-program"}));
  EXPECT_EQ(missing.launch_error, "command 'no-such-program' not found in PATH (/usr/bin:/bin)");
  EXPECT_EQ(missing.exit_code, -1);
  EXPECT_EQ(run(command(lease, 1, {"./absent"})).launch_error, "command './absent' does not exist");
  EXPECT_THAT(run(command(lease, 2, {"/etc/passwd"})).launch_error, ::testing::HasSubstr("permission denied"));
  std::string script = root_ + "/" + lease.to_string() + "/script";
  std::ofstream(script) << "#!/no/such/interpreter\n";
  ::chmod(script.c_str(), 0755);
  EXPECT_THAT(run(command(lease, 3, {script})).launch_error, ::testing::HasSubstr("interpreter"));
  std::ofstream(script) << "not a program";
  EXPECT_THAT(run(command(lease, 4, {script})).launch_error, ::testing::HasSubstr("neither a program"));
  LaunchSpec nowhere = command(lease, 5, {"true"});
  nowhere.work_dir = "/no/such/folder";
  EXPECT_EQ(run(nowhere).launch_error,
            "working directory '/no/such/folder' cannot be entered: No such file or directory");
  EXPECT_EQ(run(command(lease, 6, {})).launch_error, "no command given");
  EXPECT_EQ(run(command(lease, 7, {"true"})).exit_code, 0) << "the lease works on";
}

TEST_F(ProcessExecutorTest, GivesTheTaskACleanStart) {
  LeaseId lease = open();
  run(shell(lease, 0,
            "ls /proc/self/fd | tr '\\n' ' '; grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f2; env | sort; "
            "cat; ulimit -Sn"));
  std::string text = out(lease, 0);
  EXPECT_TRUE(text.starts_with("0 1 2 3 ")) << "3 is the folder that ls reads: " << text;
  EXPECT_EQ(text.find("4 "), std::string::npos) << text;
  EXPECT_NE(text.find("0000000000000000\n0000000000000000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("ABACUS_SHIM_TASK=" + lease.to_string()), std::string::npos);
  EXPECT_EQ(text.find("HOME="), std::string::npos) << "nothing of the agent's own environment";
}

TEST_F(ProcessExecutorTest, CapsOutputWithoutStoppingTheTask) {
  LeaseId lease = open();
  LaunchSpec loud = shell(lease, 0, "head -c 100000000 /dev/zero && echo done >&2");
  loud.output_cap_bytes = 1'000'000;
  ExitRecord record = run(loud);
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_EQ(record.stdout_bytes, 100'000'000u);
  EXPECT_TRUE(record.stdout_truncated);
  EXPECT_FALSE(record.stderr_truncated);
  EXPECT_EQ(std::filesystem::file_size(executor_->paths(lease, attempt(0)).out), 1'000'000u);
  EXPECT_EQ(read_file(executor_->paths(lease, attempt(0)).err), "done\n");
}

TEST_F(ProcessExecutorTest, RunsAnAttemptOnce) {
  LeaseId lease = open();
  LaunchSpec spec = shell(lease, 0, "echo ran >> ../count; sleep 0.2");
  launch(spec);
  launch(spec);
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  run(spec);
  run(spec);
  EXPECT_EQ(read_file(root_ + "/" + lease.to_string() + "/count"), "ran\n");
}

TEST_F(ProcessExecutorTest, RunsAsManyAsItHasSlots) {
  LeaseId lease = open(2);
  launch(shell(lease, 0, "sleep 0.5"));
  launch(shell(lease, 1, "sleep 0.5"));
  EXPECT_EQ(run(command(lease, 2, {"true"})).launch_error, "all 2 slots of the lease are busy");
  ASSERT_TRUE(until([&] { return ends_ == 3; }));
  EXPECT_EQ(run(command(lease, 3, {"true"})).exit_code, 0);
}

TEST_F(ProcessExecutorTest, StreamsManyTasksThroughOneLease) {
  LeaseId lease = open(4);
  std::uint32_t next = 0;
  ASSERT_TRUE(until([&] {
    while (next < 200 && next < static_cast<std::uint32_t>(ends_) + 4) launch(command(lease, next++, {"true"}));
    return ends_ == 200;
  }));
  for (const auto& [id, record] : ended_) EXPECT_EQ(record.exit_code, 0) << id.to_string() << record.launch_error;
}

TEST_F(ProcessExecutorTest, ForgetDeletesFilesAndRecord) {
  LeaseId lease = open();
  run(shell(lease, 0, "echo x; mkdir -p a/b; echo y > a/b/c"));
  AttemptPaths paths = executor_->paths(lease, attempt(0));
  ASSERT_TRUE(std::filesystem::exists(paths.work + "/a/b/c"));
  ASSERT_TRUE(executor_->forget(attempt(0)));
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(paths.work) && !std::filesystem::exists(paths.out); }));
  EXPECT_EQ(executor_->forget(attempt(0)).error().code, ErrorCode::not_found);
}

TEST_F(ProcessExecutorTest, AFolderUsedAgainShowsNothingOfItsFormerTask) {
  LeaseId lease = open(2);
  run(command(lease, 0, {"true"}));
  run(shell(lease, 1, "chmod 0777 ."));
  run(shell(lease, 2, "touch .hidden"));
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(executor_->forget(attempt(i)));
  for (std::uint32_t i = 3; i < 6; ++i) {
    if (i == 5) std::filesystem::create_directory(executor_->paths(lease, attempt(5)).work);
    std::ofstream(executor_->paths(lease, attempt(5)).work + "/input") << "";
    run(shell(lease, i, "pwd; stat -c %a .; ls -A"));
    std::string expected = executor_->paths(lease, attempt(i)).work + (i == 5 ? "\n755\ninput\n" : "\n700\n");
    EXPECT_EQ(out(lease, i), expected);
  }
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(executor_->paths(lease, attempt(2)).work); }));
  EXPECT_FALSE(std::filesystem::exists(executor_->paths(lease, attempt(0)).work)) << "it has become another's";
}

TEST_F(ProcessExecutorTest, ForgetRefusesARunningAttempt) {
  LeaseId lease = open();
  launch(command(lease, 0, {"sleep", "60"}));
  EXPECT_EQ(executor_->forget(attempt(0)).error().code, ErrorCode::invalid);
}

TEST_F(ProcessExecutorTest, CloseWaitsForTheLastAttemptToBeForgotten) {
  LeaseId lease = open();
  launch(shell(lease, 0, "sleep 0.2; echo late"));
  ASSERT_TRUE(executor_->close_lease(lease));
  EXPECT_EQ(executor_->launch(command(lease, 1, {"true"})).error().code, ErrorCode::not_found);
  ASSERT_TRUE(until([&] { return ended_.contains(attempt(0)); }));
  EXPECT_EQ(ended_[attempt(0)].exit_code, 0);
  EXPECT_FALSE(until([&] { return !closed_.empty(); }, std::chrono::milliseconds(200)));
  EXPECT_EQ(out(lease, 0), "late\n");
  ASSERT_TRUE(executor_->forget(attempt(0)));
  ASSERT_TRUE(until([&] { return closed_.size() == 1; }));
  EXPECT_TRUE(std::filesystem::is_empty(root_));
  EXPECT_THAT(cgroups(lease), ::testing::IsEmpty());
}

TEST_F(ProcessExecutorTest, EndKillsAndDeletesAll) {
  LeaseId lease = open();
  launch(shell(lease, 0, "trap '' TERM; echo $$; while true; do sleep 1; done"));
  pid_t pid = printed_pid(lease, 0);
  ASSERT_TRUE(executor_->end_lease(lease));
  ASSERT_TRUE(until([&] { return closed_.size() == 1; }));
  EXPECT_FALSE(process_lives(pid));
  EXPECT_EQ(ends_, 0) << "an ended lease reports nothing more";
  EXPECT_TRUE(std::filesystem::is_empty(root_));
  EXPECT_THAT(cgroups(lease), ::testing::IsEmpty());
}

TEST_F(ProcessExecutorTest, RefusesWhatItDoesNotKnow) {
  LeaseId lease = open();
  EXPECT_EQ(executor_->open_lease({lease, {}, 1}).error().code, ErrorCode::already_exists);
  EXPECT_EQ(executor_->launch(command(LeaseId{}, 0, {"true"})).error().code, ErrorCode::not_found);
  EXPECT_EQ(executor_->interrupt(attempt(9), {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(executor_->close_lease(LeaseId{}).error().code, ErrorCode::not_found);
  EXPECT_EQ(executor_->end_lease(LeaseId{}).error().code, ErrorCode::not_found);
  LaunchSpec huge = command(lease, 0, {"echo", std::string(5u << 20, 'x')});
  EXPECT_EQ(executor_->launch(huge).error().code, ErrorCode::invalid);
  LaunchSpec long_argument = command(lease, 1, {"echo", std::string(1u << 20, 'x')});
  EXPECT_THAT(run(long_argument).launch_error, ::testing::HasSubstr("longer than the system allows"));
}

TEST_F(ProcessExecutorTest, SaysWhenTheShimProgramIsMissing) {
  ProcessExecutorOptions options{root_, "/no/such/abacus-shim", minutes(1), seconds(10), report_};
  ProcessExecutor broken(io_.get_executor(), options, [](const ExecEvent&) {});
  LeaseSpec spec;
  spec.lease.bytes = {7};
  Status opened = broken.open_lease(spec);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, ::testing::HasSubstr("/no/such/abacus-shim"));
  EXPECT_TRUE(std::filesystem::is_empty(root_));
}

TEST_F(ProcessExecutorTest, WorksInAFolderWithAVeryLongName) {
  std::string deep = root_ + "/" + std::string(120, 'd') + "/" + std::string(120, 'e');
  ProcessExecutorOptions options{deep, default_shim_program(), minutes(1), seconds(10), report_};
  ProcessExecutor executor(io_.get_executor(), options, [this](ExecEvent event) { note(event); });
  LeaseSpec spec;
  spec.lease.bytes = {8};
  spec.deadline = WallTime{std::numeric_limits<std::int64_t>::max() / 2};
  ASSERT_TRUE(executor.open_lease(spec));
  ASSERT_TRUE(executor.launch(command(spec.lease, 0, {"true"})));
  ASSERT_TRUE(until([&] { return ends_ == 1; }));
  ASSERT_TRUE(executor.end_lease(spec.lease));
  ASSERT_TRUE(until([&] { return closed_.size() == 1; }));
  std::filesystem::remove_all(root_ + "/" + std::string(120, 'd'));
}

}  // namespace
}  // namespace abacus
