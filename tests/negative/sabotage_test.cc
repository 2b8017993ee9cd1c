// Each checker against a bug planted in the machines below the shipped node, and against the same market without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/checkers/all.h"
#include "sim/workloads/random_market.h"

namespace abacus::sim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kSeeds = 6;

RandomMarketOptions small_market(Sabotages sabotage) {
  RandomMarketOptions options;
  options.nodes = 12;
  options.jobs = 20;
  options.working_time = seconds(30);
  options.sabotage = std::move(sabotage);
  return options;
}

struct Found {
  std::size_t jobs = 0;
  std::uint64_t crashes = 0;
  std::uint64_t settled = 0;  ///< Markets in which everything accepted ended.
  std::vector<std::string> slots, no_task_lost, end_once, awards;
};

void gather(const Checker& checker, std::vector<std::string>& into) {
  for (const Violation& violation : checker.violations()) into.push_back(violation.what);
}

/// What each checker says of the same few markets, with the bugs in all machines.
Found run_markets(const Sabotages& sabotage) {
  Found found;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    AllCheckers checkers;
    RandomMarket market(seed, small_market(sabotage));
    checkers.watch(market.simulation());
    if (market.run(minutes(5))) ++found.settled;
    market.simulation().finish();
    found.jobs += market.simulation().accepted().size();
    found.crashes += market.simulation().faults().crashes;
    gather(checkers.slots, found.slots);
    gather(checkers.no_task_lost, found.no_task_lost);
    gather(checkers.end_once, found.end_once);
    gather(checkers.awards, found.awards);
  }
  return found;
}

TEST(Sabotage, WithoutItNoCheckerComplains) {
  Found found = run_markets({});
  EXPECT_EQ(found.settled, kSeeds);
  EXPECT_GT(found.jobs, kSeeds);
  EXPECT_GT(found.crashes, 0u);
  EXPECT_THAT(found.slots, IsEmpty());
  EXPECT_THAT(found.no_task_lost, IsEmpty());
  EXPECT_THAT(found.end_once, IsEmpty());
  EXPECT_THAT(found.awards, IsEmpty());
}

TEST(Sabotage, ADiskThatDropsJobsLosesTasks) {
  EXPECT_THAT(run_markets({Sabotage::drop_jobs}).no_task_lost, Contains(HasSubstr("is not whole at its custodian")));
}

TEST(Sabotage, APromiseBeforeItIsDurableEndsTasksTwice) {
  EXPECT_THAT(run_markets({Sabotage::late_disk}).end_once, Contains(HasSubstr("is reported twice")));
}

TEST(Sabotage, SellingCapacityTwiceRunsMoreThanThereIs) {
  EXPECT_THAT(run_markets({Sabotage::oversold}).slots, Contains(HasSubstr("runs more than it has")));
}

TEST(Sabotage, AwardingTwiceIsSeen) {
  EXPECT_THAT(run_markets({Sabotage::twin_awards}).awards, Contains(HasSubstr("is awarded to lease")));
}

/// Shows single effects to checkers; nothing runs.
class ScriptedTest : public testing::Test {
 protected:
  ScriptedTest() : simulation_(one_node()) { checkers_.watch(simulation_); }

  static SimulationConfig one_node() {
    SimulationConfig config;
    NodeSetup& node = config.nodes.emplace_back();
    node.capacity.cpu_milli = 4'000;
    node.capacity.memory_bytes = 4ull << 30;
    return config;
  }

  static LeaseId lease(std::uint8_t number) {
    LeaseId id;
    id.bytes[0] = number;
    return id;
  }

  Launch launch(std::uint8_t in_lease, std::uint32_t number) const {
    Launch launch;
    launch.lease = lease(in_lease);
    launch.attempt.number = number;
    launch.buyer = simulation_.id_of(0);
    launch.bundle.cpu_milli = 1'000;
    return launch;
  }

  AllCheckers checkers_;
  Simulation simulation_;
};

TEST_F(ScriptedTest, OneAttemptStartedInTwoLeases) {
  checkers_.awards.on_effect(simulation_, 0, launch(1, 1));
  checkers_.awards.on_effect(simulation_, 0, launch(1, 1));
  EXPECT_THAT(checkers_.awards.violations(), IsEmpty());
  checkers_.awards.on_effect(simulation_, 0, launch(2, 1));
  ASSERT_EQ(checkers_.awards.violations().size(), 1u);
  EXPECT_THAT(checkers_.awards.violations()[0].what, HasSubstr("is started in lease"));
}

TEST_F(ScriptedTest, ALaunchInALeaseThatWasNeverOpened) {
  OpenLease open;
  open.lease = lease(1);
  open.slots = 1;
  checkers_.slots.on_effect(simulation_, 0, open);
  checkers_.slots.on_effect(simulation_, 0, launch(1, 1));
  EXPECT_THAT(checkers_.slots.violations(), IsEmpty());
  checkers_.slots.on_effect(simulation_, 0, launch(2, 1));
  ASSERT_EQ(checkers_.slots.violations().size(), 1u);
  EXPECT_THAT(checkers_.slots.violations()[0].what, HasSubstr("of 0 slots"));
}

}  // namespace
}  // namespace abacus::sim
