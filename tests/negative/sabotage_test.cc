// Each checker against a bug planted in the machines below the shipped node, and against the same market without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/checkers/all.h"
#include "sim/trial/trial.h"
#include "sim/workloads/random_plan.h"

namespace abacus::sim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kSeeds = 6;

RandomPlanOptions small_market() {
  RandomPlanOptions options;
  options.nodes = 12;
  options.jobs = 20;
  options.working_time = seconds(30);
  options.settle_within = minutes(5);
  return options;
}

/// What each checker says of the same few markets, with the bugs in all machines.
struct Found {
  std::size_t jobs = 0;
  std::uint64_t settled = 0;  ///< Markets in which everything accepted ended.
  std::map<std::string, std::vector<std::string>> by_checker;

  const std::vector<std::string>& of(const Checker& checker) { return by_checker[checker.name()]; }
};

Found run_markets(const Sabotages& sabotage, const RandomPlanOptions& options = small_market()) {
  Found found;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    TrialResult result = run_trial(random_plan(seed, options), sabotage);
    found.jobs += result.jobs_accepted;
    if (result.settled) ++found.settled;
    for (Violation& violation : result.violations) found.by_checker[violation.checker].push_back(violation.what);
  }
  return found;
}

TEST(Sabotage, WithoutItNoCheckerComplains) {
  Found found = run_markets({});
  EXPECT_EQ(found.settled, kSeeds);
  EXPECT_GT(found.jobs, kSeeds);
  for (const auto& [checker, complaints] : found.by_checker) EXPECT_THAT(complaints, IsEmpty()) << checker;
}

TEST(Sabotage, ADiskThatDropsJobsLosesTasks) {
  EXPECT_THAT(run_markets({Sabotage::drop_jobs}).of(NoTaskLostChecker()),
              Contains(HasSubstr("is not whole at its custodian")));
}

TEST(Sabotage, APromiseBeforeItIsDurableEndsTasksTwice) {
  EXPECT_THAT(run_markets({Sabotage::late_disk}).of(EndOnceChecker()), Contains(HasSubstr("is reported twice")));
}

TEST(Sabotage, SellingCapacityTwiceRunsMoreThanThereIs) {
  EXPECT_THAT(run_markets({Sabotage::oversold}).of(SlotsChecker()), Contains(HasSubstr("runs more than it has")));
}

TEST(Sabotage, AwardingTwiceIsSeen) {
  EXPECT_THAT(run_markets({Sabotage::twin_awards}).of(AwardsChecker()), Contains(HasSubstr("is awarded to lease")));
}

TEST(Sabotage, AwardsThatVanishKeepWorkWaiting) {
  EXPECT_THAT(run_markets({Sabotage::awards_vanish}).of(LivenessChecker()), Contains(HasSubstr("has not ended")));
}

TEST(Sabotage, ReceiptsThatNobodyAcknowledgesLeaveLeasesBehind) {
  EXPECT_THAT(run_markets({Sabotage::receipts_stay_open}).of(RestChecker()),
              Contains(HasSubstr("sold leases in its journal")));
}

TEST(Sabotage, AMicroCreditTooMuchIsSeen) {
  EXPECT_THAT(run_markets({Sabotage::receipts_are_dear}).of(MoneyChecker()), Contains(HasSubstr("micro-credits are")));
}

TEST(Sabotage, ARenewalAtAPriceThatItsBuyerDidNotNameIsSeen) {
  // Only where much is renewed do some prices rise.
  RandomPlanOptions busy = small_market();
  busy.jobs = 100;
  EXPECT_THAT(run_markets({Sabotage::prices_unnamed}, busy).of(MoneyChecker()), Contains(HasSubstr("its buyer named")));
}

TEST(Sabotage, ANetworkOfStrangersIsNotConnected) {
  EXPECT_THAT(run_markets({Sabotage::nobody_is_neighbour}).of(ConnectivityChecker()),
              Contains(HasSubstr("neighbours lead from")));
}

TEST(Sabotage, AskingTwentyTimesCostsTooMuch) {
  EXPECT_THAT(run_markets({Sabotage::asks_everybody_often}).of(CostChecker()), Contains(HasSubstr("market messages")));
}

/// Shows single effects to checkers; nothing runs.
class ScriptedTest : public testing::Test {
 protected:
  ScriptedTest() : simulation_(one_node()) { checkers_.watch(simulation_); }

  static Plan one_node() {
    Plan plan;
    NodeSetup& node = plan.nodes.emplace_back();
    node.capacity.cpu_milli = 4'000;
    node.capacity.memory_bytes = 4ull << 30;
    return plan;
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
