// Random markets with faults: over many seeds no invariant is violated, and a seed run twice ends in the same state.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sim/trial/trial.h"
#include "sim/workloads/random_plan.h"

namespace abacus::sim {
namespace {

void expect_clean(std::uint64_t seed, const TrialResult& result) {
  std::string replay = "replay: ABACUS_SEED=" + std::to_string(seed) + " market_seeds_test";
  EXPECT_TRUE(result.settled) << replay;
  EXPECT_GT(result.jobs_accepted, 0u) << replay;
  std::size_t shown = 0;
  for (const Violation& violation : result.violations) {
    ADD_FAILURE() << violation.checker << " at " << violation.at.ns / 1'000'000 << " ms: " << violation.what << "\n"
                  << replay;
    if (++shown == 5) break;
  }
}

/// ABACUS_SEED=N runs that seed alone; ABACUS_SEEDS=N runs the first N.
std::uint64_t environment_number(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

unsigned long long shown(std::uint64_t count) { return count; }

TEST(MarketSeeds, NoInvariantIsViolated) {
  if (std::uint64_t seed = environment_number("ABACUS_SEED", 0); seed != 0) {
    return expect_clean(seed, run_trial(random_plan(seed, {})));
  }
  std::uint64_t seeds = environment_number("ABACUS_SEEDS", 200), events = 0, jobs = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    TrialResult result = run_trial(random_plan(seed, {}));
    expect_clean(seed, result);
    events += result.events;
    jobs += result.jobs_accepted;
  }
  std::printf("%llu seeds, %llu jobs, %llu events\n", shown(seeds), shown(jobs), shown(events));
}

/// Without this, faults that never strike would let every other test pass.
TEST(MarketSeeds, EveryMisfortuneReallyStrikes) {
  constexpr std::uint64_t kSeeds = 20;
  Misfortunes all;
  std::uint64_t placed_again = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    TrialResult result = run_trial(random_plan(seed, {}));
    all.add(result.misfortunes);
    placed_again += result.placed_again;
  }
  EXPECT_GT(all.messages_lost, 0u);
  EXPECT_GT(all.messages_repeated, 0u);
  EXPECT_GT(placed_again, 0u);
  std::printf("%llu seeds: %llu messages lost, %llu repeated, %llu lost attempts placed again\n", shown(kSeeds),
              shown(all.messages_lost), shown(all.messages_repeated), shown(placed_again));
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<FaultKind>>([&](auto kind) {
    EXPECT_GT(all.faults[kind.value], 0u) << kind.name;
    std::printf("  %s %llu", kind.name, shown(all.faults[kind.value]));
  });
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<FaultPoint>>([&](auto point) {
    EXPECT_GT(all.points[point.value], 0u) << point.name;
    std::printf("  %s %llu", point.name, shown(all.points[point.value]));
  });
  std::printf("\n");
}

TEST(MarketSeeds, TheSameSeedEndsInTheSameState) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    TrialResult first = run_trial(random_plan(seed, {})), second = run_trial(random_plan(seed, {}));
    EXPECT_EQ(first.state_hash, second.state_hash) << "seed " << seed;
    EXPECT_EQ(first.events, second.events) << "seed " << seed;
  }
  EXPECT_NE(run_trial(random_plan(1, {})).state_hash, run_trial(random_plan(2, {})).state_hash);
}

}  // namespace
}  // namespace abacus::sim
