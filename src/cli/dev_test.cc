// The development market: what it plans, what it remembers, and which processes it ends.
#include <unistd.h>

#include <set>

#include "cli/cli_fixture.h"
#include "cli/dev_market.h"
#include "cli/dev_process.h"
#include "cli/exit_codes.h"

namespace abacus {
namespace {

using testing::HasSubstr;

class DevTest : public CliTest {
 protected:
  std::string dir() const { return home_ + "/dev"; }
  /// What looks like a shim, and ends its child when it is told to.
  Result<ProcessKey> start_shim(const std::string& data_dir) {
    std::filesystem::create_symlink("/bin/sh", home_ + "/abacus-shim");
    const char* script = "trap 'kill $!; exit' TERM; sleep 1000 & echo here; wait";
    return start_detached(home_ + "/abacus-shim", {"-c", script, "sh", "--directory=" + data_dir + "/leases/x"},
                          home_ + "/log");
  }

  DevMarket market_with(const ProcessKey& process) {
    std::filesystem::create_directories(dir() + "/agent-1");
    DevMarket market{dir(), plan_dev_agents(dir(), 1, {"north"}, {2000, 4ull << 30, 0, {}})};
    market.agents[0].pid = process.pid;
    market.agents[0].start_ticks = process.start_ticks;
    return market;
  }
};

/// A zombie that nobody has reaped yet is gone too.
bool is_gone(pid_t pid) {
  std::string stat = tail_of(fmt::format("/proc/{}/stat", pid), 1);
  return stat.empty() || stat.find(") Z ") != std::string::npos;
}

TEST_F(DevTest, PlansSizesWithinTheMachine) {
  Capacity machine{2000, 8ull << 30, 0, {}};
  auto agents = plan_dev_agents("/d", 5, {"north", "south"}, machine);
  ASSERT_EQ(agents.size(), 5u);
  EXPECT_EQ(agents[0].name, "agent-1");
  EXPECT_EQ(agents[4].data_dir, "/d/agent-5");
  EXPECT_EQ(agents[3].region, "south");
  EXPECT_EQ(agents[0].capacity, "cpu=2,memory=1408MiB");
  EXPECT_EQ(agents[1].capacity, "cpu=1,memory=704MiB");
  EXPECT_NE(agents[0].energy_per_kwh, agents[1].energy_per_kwh);
  auto large = plan_dev_agents("/d", 2, {"x"}, {64'000, 64ull << 30, 0, {}});
  EXPECT_EQ(large[0].capacity, "cpu=42,memory=34944MiB");
  EXPECT_EQ(plan_dev_agents("/d", 1, {"x"}, {500, 1 << 20, 0, {}})[0].capacity, "memory=64MiB");
}

TEST_F(DevTest, RemembersAndForgets) {
  EXPECT_FALSE(load_dev_market(dir()).value().has_value());
  DevMarket market = market_with({12, 34});
  ASSERT_TRUE(save_dev_market(market));
  EXPECT_EQ(load_dev_market(dir()).value(), market);
  forget_dev_market(dir());
  EXPECT_FALSE(load_dev_market(dir()).value().has_value());
  std::ofstream(dir() + "/dev.json") << "{\"agents\": 5}";
  auto damaged = load_dev_market(dir());
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
}

TEST_F(DevTest, StartsFindsAndEndsProcesses) {
  auto process = start_shim(dir() + "/agent-1");
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_TRUE(is_running(*process));
  EXPECT_FALSE(is_running({process->pid, process->start_ticks + 1}));
  EXPECT_TRUE(end_process({process->pid, process->start_ticks + 1}, seconds(1)));
  EXPECT_TRUE(is_running(*process));
  while (tail_of(home_ + "/log", 1).empty()) usleep(10'000);
  auto found = shims_of(dir() + "/agent-1");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, process->pid);
  EXPECT_TRUE(shims_of(dir() + "/agent").empty());
  EXPECT_TRUE(end_process(*process, seconds(5)));
  EXPECT_FALSE(is_running(*process));
  EXPECT_EQ(tail_of(home_ + "/log", 3), "  here\n");
}

TEST_F(DevTest, KillsWhatIgnoresTheTermAndWhatItStarted) {
  const char* script = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.05; done' & wait; sleep 1000";
  auto process = start_detached("/bin/sh", {"-c", script}, home_ + "/log");
  ASSERT_TRUE(process);
  while (tail_of(home_ + "/log", 1).empty()) usleep(10'000);
  pid_t child = std::atoi(tail_of(home_ + "/log", 1).c_str());
  ASSERT_FALSE(is_gone(child));
  EXPECT_TRUE(end_process(*process, milliseconds(200)));
  EXPECT_FALSE(is_running(*process));
  for (int i = 0; i < 500 && !is_gone(child); ++i) usleep(10'000);
  EXPECT_TRUE(is_gone(child));
}

TEST_F(DevTest, SaysThatAProgramCannotBeStarted) {
  auto process = start_detached("/nowhere/abacus", {}, home_ + "/log");
  ASSERT_FALSE(process);
  EXPECT_THAT(process.error().message, HasSubstr("/nowhere/abacus"));
}

TEST_F(DevTest, UpIsRefusedWhileAMarketIsUpAndDownEndsIt) {
  auto agent = start_detached("/bin/sleep", {"1000"}, home_ + "/log");
  ASSERT_TRUE(agent);
  DevMarket market = market_with(*agent);
  auto shim = start_shim(market.agents[0].data_dir);
  auto bystander = start_detached("/usr/bin/tail", {"-f", market.agents[0].data_dir + "/../../log"}, home_ + "/other");
  while (tail_of(home_ + "/log", 1).empty()) usleep(10'000);
  ASSERT_TRUE(save_dev_market(market));
  CliResult up = cli({"dev", "up"});
  EXPECT_EQ(up.code, kExitOther);
  EXPECT_THAT(up.err, HasSubstr("a development market is up"));
  EXPECT_EQ(cli({"dev", "status"}).code, 0);
  CliResult down = cli({"dev", "down"});
  EXPECT_EQ(down.code, 0) << down.err;
  EXPECT_EQ(down.out, "1 agents ended\n");
  EXPECT_FALSE(is_running(*agent));
  EXPECT_FALSE(is_running(*shim));
  EXPECT_TRUE(is_running(*bystander));
  EXPECT_TRUE(end_process(*bystander, seconds(1)));
  EXPECT_EQ(cli({"dev", "down"}).code, 0);
  EXPECT_EQ(cli({"dev", "status"}).code, kExitOther);
}

TEST_F(DevTest, UpLeavesForeignFoldersAlone) {
  std::filesystem::create_directories(dir());
  std::ofstream(dir() + "/precious") << "x";
  CliResult up = cli({"dev", "up"});
  EXPECT_EQ(up.code, kExitOther);
  EXPECT_THAT(up.err, HasSubstr("is not empty and no development market"));
  EXPECT_TRUE(std::filesystem::exists(dir() + "/precious"));
}

TEST_F(DevTest, FindsDifferentFreePorts) {
  auto ports = free_ports(50).value();
  EXPECT_EQ(std::set<std::uint16_t>(ports.begin(), ports.end()).size(), 50u);
}

}  // namespace
}  // namespace abacus
