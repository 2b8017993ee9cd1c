// What the kernel enforces and meters for a task: memory, processes, CPU, time. Skipped, saying why, where it cannot.
#include "runtime/exec/executor_fixture.h"
#include "runtime/exec/isolation.h"

namespace abacus {
namespace {

class LimitsTest : public ExecutorFixture {
 protected:
  static LaunchSpec limited(const LeaseId& lease, std::uint32_t index, const std::string& script) {
    LaunchSpec spec = shell(lease, index, script);
    spec.limits = Limits::cgroup;
    return spec;
  }

  static Duration cpu(const ExitRecord& record) { return record.cpu_user + record.cpu_system; }
};

constexpr char kBurn[] = "end=$((SECONDS+2)); while [ $SECONDS -lt $end ]; do :; done";

TEST_F(LimitsTest, MemoryBeyondTheLimitKills) {
  if (!report_.memory.enforced) GTEST_SKIP() << "memory is not enforced here: " << report_.memory.how;
  LeaseId lease = open();
  LaunchSpec spec = limited(lease, 0, "head -c 300000000 /dev/zero | tail >/dev/null; exit 3");
  spec.memory_bytes = 64u << 20;
  ExitRecord record = run(spec);
  EXPECT_TRUE(record.oom_killed);
  EXPECT_LE(record.peak_memory_bytes, 64u << 20);
  EXPECT_GT(record.peak_memory_bytes, 32u << 20);
  // The group is used again: neither its limit nor its history may show.
  ExitRecord next = run(limited(lease, 1, "head -c 100000000 /dev/zero | tail >/dev/null; exit 3"));
  EXPECT_EQ(next.exit_code, 3);
  EXPECT_FALSE(next.oom_killed);
  EXPECT_GT(next.peak_memory_bytes, 90'000'000u);
  EXPECT_LT(run(limited(lease, 2, "true")).peak_memory_bytes, 32u << 20);
}

TEST_F(LimitsTest, ProcessesBeyondTheLimitAreRefused) {
  if (!report_.pids.enforced) GTEST_SKIP() << "pids is not enforced here: " << report_.pids.how;
  LeaseId lease = open();
  // Not bash: it would try again and again, for fifteen seconds.
  LaunchSpec spec = command(lease, 0, {"/bin/dash", "-c", "for i in $(seq 40); do sleep 30 & done; exit 0"});
  spec.limits = Limits::cgroup;
  spec.pids_max = 10;
  run(spec);
  EXPECT_THAT(read_file(executor_->paths(lease, attempt(0)).err), ::testing::HasSubstr("fork"));
  EXPECT_EQ(run(limited(lease, 1, "for i in $(seq 40); do sleep 0.1 & done; wait; exit 4")).exit_code, 4);
}

TEST_F(LimitsTest, CpuQuotaHolds) {
  if (!report_.cpu.enforced) GTEST_SKIP() << "cpu is not enforced here: " << report_.cpu.how;
  LeaseId lease = open();
  LaunchSpec spec = limited(lease, 0, kBurn);
  spec.cpu_milli = 250;
  ExitRecord record = run(spec);
  Duration wall = record.ended - record.started;
  EXPECT_LT(cpu(record).ms(), wall.ms() * 40 / 100) << to_string(cpu(record)) << " of " << to_string(wall);
  EXPECT_GT(cpu(record).ms(), wall.ms() * 5 / 100) << to_string(cpu(record)) << " of " << to_string(wall);
}

TEST_F(LimitsTest, CpuIsMeteredWithAndWithoutAGroup) {
  LeaseId lease = open();
  for (Limits limits : {Limits::none, Limits::cgroup}) {
    LaunchSpec spec = shell(lease, limits == Limits::none ? 0 : 1, std::string("(") + kBurn + ") & wait");
    spec.limits = limits;
    ExitRecord record = run(spec);
    Duration wall = record.ended - record.started;
    EXPECT_LE(cpu(record).ms(), wall.ms() + 50) << "one busy process cannot use more than the time that passed";
    EXPECT_GT(cpu(record).ms(), 200) << to_string(wall);
  }
}

TEST_F(LimitsTest, CpuOfAChildThatNobodyWaitsForIsMetered) {
  if (report_.branches.empty()) GTEST_SKIP() << "needs a cgroup: " << report_.cpu.how;
  LeaseId lease = open();
  // SIGCHLD ignored: the kernel drops the child's usage, only the group still knows it.
  ExitRecord record = run(limited(lease, 0,
                                  "trap '' CHLD; setsid bash -c '" + std::string(kBurn) +
                                      "; touch ended' & "
                                      "until [ -e ended ]; do sleep 0.1; done"));
  EXPECT_GT(cpu(record).ms(), 200);
}

TEST_F(LimitsTest, TimeLimitInterrupts) {
  LeaseId lease = open();
  for (Limits limits : {Limits::none, Limits::cgroup}) {
    LaunchSpec spec =
        shell(lease, limits == Limits::none ? 0 : 1, "trap 'exit 7' TERM; while true; do sleep 0.05; done");
    spec.limits = limits;
    spec.time_limit = milliseconds(300);
    spec.grace = seconds(30);
    ExitRecord record = run(spec);
    EXPECT_TRUE(record.timed_out);
    EXPECT_EQ(record.exit_code, 7) << "it had time to end by itself";
    EXPECT_GE((record.ended - record.started).ms(), 290);
    EXPECT_LT((record.ended - record.started).ms(), 20'000);
  }
}

TEST_F(LimitsTest, AffinityHolds) {
  LeaseId lease = open();
  LaunchSpec spec = command(lease, 0, {"nproc"});
  spec.cpus = {0};
  ExitRecord record = run(spec);
  EXPECT_EQ(record.launch_error, "");
  EXPECT_EQ(out(lease, 0), "1\n");
  spec = command(lease, 1, {"nproc"});
  spec.cpus = {1000};
  EXPECT_THAT(run(spec).launch_error, ::testing::HasSubstr("CPUs"));
}

}  // namespace
}  // namespace abacus
