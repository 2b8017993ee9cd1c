// Random markets with faults: over many seeds no invariant is violated, and a seed run twice ends in the same state.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sim/checkers/all.h"
#include "sim/workloads/random_market.h"

namespace abacus::sim {
namespace {

struct Outcome {
  std::uint64_t hash = 0;
  std::size_t jobs_accepted = 0;
  std::uint64_t events = 0;
  FaultCounts faults;
  std::uint64_t placed_again = 0;  ///< Lost attempts, as counted by agents since their last start.
  bool settled = false;
  std::vector<Violation> violations;
};

Outcome run_market(std::uint64_t seed, RandomMarketOptions options) {
  AllCheckers checkers;
  RandomMarket market(seed, options);
  Simulation& simulation = market.simulation();
  checkers.watch(simulation);
  Outcome outcome;
  outcome.settled = market.run(minutes(60));
  simulation.finish();
  outcome.violations = simulation.violations();
  outcome.hash = simulation.state_hash();
  outcome.jobs_accepted = simulation.accepted().size();
  outcome.events = simulation.events_handled();
  outcome.faults = simulation.faults();
  for (NodeIndex i = 0; i < simulation.size(); ++i) {
    if (const Node* node = simulation.node(i)) outcome.placed_again += node->counters().tasks_lost;
  }
  return outcome;
}

void expect_clean(std::uint64_t seed, const Outcome& outcome) {
  std::string replay = "replay: ABACUS_SEED=" + std::to_string(seed) + " market_seeds_test";
  EXPECT_TRUE(outcome.settled) << replay;
  EXPECT_GT(outcome.jobs_accepted, 0u) << replay;
  std::size_t shown = 0;
  for (const Violation& violation : outcome.violations) {
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

TEST(MarketSeeds, NoInvariantIsViolated) {
  if (std::uint64_t seed = environment_number("ABACUS_SEED", 0); seed != 0) {
    return expect_clean(seed, run_market(seed, {}));
  }
  std::uint64_t seeds = environment_number("ABACUS_SEEDS", 200), events = 0, jobs = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    Outcome outcome = run_market(seed, {});
    expect_clean(seed, outcome);
    events += outcome.events;
    jobs += outcome.jobs_accepted;
  }
  std::printf("%llu seeds, %llu jobs, %llu events\n", static_cast<unsigned long long>(seeds),
              static_cast<unsigned long long>(jobs), static_cast<unsigned long long>(events));
}

/// Without this, a schedule of faults that never strikes would let every other test pass.
TEST(MarketSeeds, MisfortunesReallyStrike) {
  constexpr std::uint64_t kSeeds = 10;
  FaultCounts faults;
  std::uint64_t placed_again = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Outcome outcome = run_market(seed, {});
    faults.add(outcome.faults);
    placed_again += outcome.placed_again;
  }
  EXPECT_GT(faults.crashes, faults.power_losses);
  EXPECT_GT(faults.power_losses, 0u);
  EXPECT_GT(faults.partitions, 0u);
  EXPECT_GT(faults.messages_lost, 0u);
  EXPECT_GT(faults.messages_repeated, 0u);
  EXPECT_GT(placed_again, 0u);
  auto shown = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
  std::printf(
      "%llu seeds: %llu crashes, %llu of them power losses, %llu partitions, %llu messages lost, %llu repeated, "
      "%llu lost attempts placed again\n",
      shown(kSeeds), shown(faults.crashes), shown(faults.power_losses), shown(faults.partitions),
      shown(faults.messages_lost), shown(faults.messages_repeated), shown(placed_again));
}

TEST(MarketSeeds, TheSameSeedEndsInTheSameState) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Outcome first = run_market(seed, {}), second = run_market(seed, {});
    EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
    EXPECT_EQ(first.events, second.events) << "seed " << seed;
  }
  EXPECT_NE(run_market(1, {}).hash, run_market(2, {}).hash);
}

}  // namespace
}  // namespace abacus::sim
