// Random markets with faults: over many seeds no invariant is violated, and a seed run twice ends in the same state.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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

/// 50 to 200 nodes. Most are small: small markets are as strange as large ones, and there is time for more of them.
Plan plan_of(std::uint64_t seed) {
  constexpr std::uint32_t kNodes[] = {50, 50, 80, 50, 120, 50, 200, 50, 80, 50};
  RandomPlanOptions options;
  options.nodes = kNodes[seed % std::size(kNodes)];
  options.jobs = options.nodes * 4 / 5;
  return random_plan(seed, options);
}

/// Every tenth seed runs twice, and ends in the same state.
constexpr std::uint64_t kTwiceEvery = 10;

struct SeedResult {
  TrialResult first;
  std::uint64_t second_hash = 0;
};

SeedResult run_seed(std::uint64_t seed) {
  SeedResult result{run_trial(plan_of(seed)), 0};
  result.second_hash = seed % kTwiceEvery == 0 ? run_trial(plan_of(seed)).state_hash : result.first.state_hash;
  return result;
}

/// Takes seeds in turn on every core, until one is not clean.
class SeedRuns {
 public:
  explicit SeedRuns(std::uint64_t seeds) : seeds_(seeds) {
    std::vector<std::future<void>> workers;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
      workers.push_back(std::async(std::launch::async, [this] { work(); }));
    }
    for (std::future<void>& worker : workers) worker.get();
  }

  const std::map<std::uint64_t, SeedResult>& results() const { return results_; }

 private:
  void work() {
    while (!failed_) {
      const std::uint64_t seed = next_++;
      if (seed > seeds_) return;
      SeedResult result = run_seed(seed);
      result.first.pace.clear();
      if (!result.first.violations.empty() || !result.first.settled) failed_ = true;
      std::lock_guard lock(mutex_);
      results_.emplace(seed, std::move(result));
      if (results_.size() % 500 == 0) std::printf("%zu seeds have run\n", results_.size());
      std::fflush(stdout);
    }
  }

  const std::uint64_t seeds_;
  std::atomic<std::uint64_t> next_ = 1;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::map<std::uint64_t, SeedResult> results_;
};

TEST(MarketSeeds, NoInvariantIsViolated) {
  if (std::uint64_t seed = environment_number("ABACUS_SEED", 0); seed != 0) {
    return expect_clean(seed, run_trial(plan_of(seed)));
  }
  const bool is_long = environment_number("ABACUS_LONG", 0) != 0;
  const SeedRuns runs(environment_number("ABACUS_SEEDS", is_long ? 10'000 : 500));
  std::uint64_t events = 0, jobs = 0, digest = 0;
  for (const auto& [seed, result] : runs.results()) {
    expect_clean(seed, result.first);
    EXPECT_EQ(result.first.state_hash, result.second_hash) << "seed " << seed << " ends otherwise when run again";
    events += result.first.events;
    jobs += result.first.jobs_accepted;
    digest = digest * 31 + result.first.state_hash;
  }
  std::printf("%zu seeds, %llu jobs, %llu events, digest of their states %016llx\n", runs.results().size(), shown(jobs),
              shown(events), shown(digest));
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

TEST(MarketSeeds, AnotherSeedEndsInAnotherState) {
  EXPECT_NE(run_trial(random_plan(1, {})).state_hash, run_trial(random_plan(2, {})).state_hash);
}

}  // namespace
}  // namespace abacus::sim
