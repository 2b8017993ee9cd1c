// Shrinking keeps what fails, drops what does not matter, and stays a valid plan.
#include "sim/trial/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/trial/trial.h"
#include "sim/workloads/random_plan.h"

namespace abacus::sim {
namespace {

TEST(Shrink, LeavesOnlyWhatMatters) {
  Plan plan = random_plan(7, {});
  auto fails = [](const Plan& candidate) {
    bool big_job = std::any_of(candidate.jobs.begin(), candidate.jobs.end(),
                               [](const PlannedJob& job) { return job.spec.is_array && job.spec.array.size() >= 3; });
    bool crash = std::any_of(candidate.faults.begin(), candidate.faults.end(),
                             [](const Fault& fault) { return fault.kind == FaultKind::crash; });
    return big_job && crash && candidate.nodes.size() >= 4;
  };
  ASSERT_TRUE(fails(plan));
  Shrunk shrunk = shrink(plan, fails, 10'000);
  EXPECT_TRUE(validate(shrunk.plan).has_value());
  EXPECT_TRUE(fails(shrunk.plan));
  EXPECT_EQ(shrunk.plan.faults.size(), 1u);
  EXPECT_EQ(shrunk.plan.jobs.size(), 1u);
  EXPECT_LT(shrunk.plan.jobs[0].spec.array.size(), 6u);
  EXPECT_TRUE(shrunk.plan.chances.empty());
  EXPECT_EQ(shrunk.plan.network.loss_permille, 0u);
}

TEST(Shrink, StopsAfterSoManyTries) {
  std::uint32_t asked = 0;
  Shrunk shrunk = shrink(
      random_plan(7, {}), [&](const Plan&) { return ++asked > 0; }, 5);
  EXPECT_EQ(asked, 5u);
  EXPECT_EQ(shrunk.tries, 5u);
}

/// A real failure: what is left of the plan still shows it, with little else.
TEST(Shrink, APlantedBugNeedsLittle) {
  RandomPlanOptions options;
  options.nodes = 10;
  options.jobs = 8;
  options.settle_within = minutes(2);
  auto fails = [](const Plan& plan) {
    TrialResult result = run_trial(plan, {Sabotage::oversold});
    return std::any_of(result.violations.begin(), result.violations.end(),
                       [](const Violation& violation) { return violation.checker == "no slot leased twice at once"; });
  };
  Plan plan = random_plan(3, options);
  ASSERT_TRUE(fails(plan));
  Shrunk shrunk = shrink(plan, fails, 60);
  EXPECT_TRUE(fails(shrunk.plan));
  EXPECT_LE(shrunk.plan.jobs.size(), 2u);
  EXPECT_TRUE(shrunk.plan.faults.empty());
}

}  // namespace
}  // namespace abacus::sim
