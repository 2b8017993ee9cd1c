// Random schedules: losses, repeats, reorders, restarts on both sides. What must hold always, holds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

#include "core/buying/test_market.h"

namespace abacus {
namespace {

using test::Market;
using test::SellerPlan;

JobSpec random_job(Prng& prng) {
  JobSpec spec;
  spec.work.command = {"true"};
  spec.is_array = true;
  spec.array.last = static_cast<std::uint32_t>(prng.below(40));
  if (prng.chance(1, 3)) spec.array.running_max = 1 + static_cast<std::uint32_t>(prng.below(4));
  Duration runs[] = {Duration{}, milliseconds(5), seconds(2), minutes(3)};
  spec.expected_run = runs[prng.below(4)];
  spec.lost_after = seconds(15);
  if (prng.chance(1, 3)) spec.repeat = Repeat::at_most_once;
  if (prng.chance(1, 3)) spec.budget = micro_credits(prng.between(1'000, 3'000'000));
  if (prng.chance(1, 4)) spec.deadline = WallTime{Market::kWallStart} + seconds(prng.between(2, 600));
  return spec;
}

std::vector<SellerPlan> random_sellers(Prng& prng) {
  std::vector<SellerPlan> plans;
  for (std::uint64_t i = 0; i < 3 + prng.below(4); ++i) {
    SellerPlan plan;
    plan.slots = static_cast<std::uint32_t>(prng.below(8));
    plan.price = Price{prng.between(1, 3'000)};
    Duration runs[] = {milliseconds(3), milliseconds(800), seconds(100)};
    plan.run = runs[prng.below(3)];
    plan.refuse_next = static_cast<std::uint32_t>(prng.below(4));
    plan.lose_next = static_cast<std::uint32_t>(prng.below(3));
    plan.interrupt_next = static_cast<std::uint32_t>(prng.below(3));
    plan.silent = i > 1 && prng.chance(1, 8);
    plan.outputs = prng.chance(1, 3);
    plan.nonsense = i > 1 && prng.chance(1, 8);
    plan.accept_fewer_by = static_cast<std::uint32_t>(prng.below(3));
    plans.push_back(plan);
  }
  return plans;
}

void disturb(Market& market, Prng& prng, bool restarts) {
  std::size_t seller = 1 + prng.below(market.sellers.size() - 1);
  switch (prng.below(restarts ? 6 : 3)) {
    case 0: market.suspect(seller, !market.is_suspect(Market::node(seller))); break;
    case 1: market.stop_seller(seller, false); break;
    case 2: market.start_seller(seller); break;
    case 3: market.stop_seller(seller, true); break;
    default: market.crash_buyer();
  }
}

void calm(Market& market) {
  market.faults = {};
  for (std::size_t i = 0; i < market.sellers.size(); ++i) {
    market.start_seller(i);
    market.sellers[i].plan.silent = false;
    if (market.is_suspect(Market::node(i))) market.suspect(i, false);
  }
  market.sellers[0].plan.slots = std::max(market.sellers[0].plan.slots, 1u);
}

/// A job's whole life under faults; then the market calms down, and everything must come to rest.
void live_through(std::uint64_t seed, bool restarts) {
  Prng prng(seed);
  Market market(seed, random_sellers(prng));
  std::vector<JobId> jobs;
  for (std::uint64_t i = 0; i < 1 + prng.below(3); ++i) jobs.push_back(market.submit(random_job(prng)));
  market.faults = {prng.below(25), prng.below(15), microseconds(prng.between(100, 30'000)),
                   milliseconds(prng.between(0, 20))};
  market.fetch_problem = [&](const FetchOutputs&) { return prng.chance(1, 4) ? "unreachable" : ""; };
  for (int i = 0; i < 12; ++i) {
    market.run_for(milliseconds(prng.between(1, 8'000)));
    disturb(market, prng, restarts);
    if (prng.chance(1, 12)) market.cancel(jobs[prng.below(jobs.size())], std::nullopt);
    if (prng.chance(1, 12)) market.cancel(jobs[prng.below(jobs.size())], 0);
  }
  calm(market);
  for (const JobId& job : jobs) {
    bool ended = market.run_until_ended(job, hours(12));
    JobView view = market.buying->job(job, market.now()).value();
    RC_LOG() << "seed " << seed << ": " << view.succeeded << " of " << view.tasks << " succeeded, " << view.failed
             << " failed, " << view.placed << " placed; " << view.waiting_for << "\n";
    for (const BoughtLeaseView& l : market.buying->leases()) {
      RC_LOG() << "lease " << l.lease.short_string() << " of " << l.seller.short_string() << " busy " << l.slots_busy
               << " accepted " << l.accepted << " released " << l.released << "\n";
    }
    std::vector<TaskView> all = market.buying->tasks(job, 0, 1'000).value();
    for (const TaskView& task : all) {
      if (!task.end)
        RC_LOG() << task.task.to_string() << " phase " << static_cast<int>(task.phase) << " attempt " << task.attempt
                 << "\n";
    }
    RC_ASSERT(ended);
  }
  market.run_for(hours(1));
  RC_ASSERT(market.violations == std::vector<std::string>{});
  RC_ASSERT(market.quiet());
  for (const JobId& job : jobs) {
    JobView view = market.buying->job(job, market.now()).value();
    RC_ASSERT(view.succeeded + view.failed == view.tasks);
    RC_ASSERT(view.waiting == 0u && view.placed == 0u);
    std::uint32_t told = 0;
    for (const auto& [task, times] : market.ends_told) told += task.job == job;
    if (!restarts) RC_ASSERT(told == view.tasks);
    std::size_t ended = 0;
    std::vector<TaskView> tasks = market.buying->tasks(job, 0, 1'000).value();
    for (const TaskView& task : tasks) ended += task.end.has_value();
    RC_ASSERT(ended == view.tasks);
  }
}

RC_GTEST_PROP(Schedules, ComeToRestWithEveryTaskEndedOnce, ()) {
  live_through(*rc::gen::arbitrary<std::uint64_t>(), false);
}

RC_GTEST_PROP(Schedules, SurviveRestartsOnBothSides, ()) { live_through(*rc::gen::arbitrary<std::uint64_t>(), true); }

TEST(Restart, AtEveryMomentOfAJob) {
  for (std::int64_t at_us = 0; at_us < 30'000; at_us += 250) {
    Market market(5, {{.slots = 1}, {.slots = 2}, {.slots = 2, .outputs = true}});
    JobSpec spec;
    spec.work.command = {"true"};
    spec.is_array = true;
    spec.array.last = 5;
    JobId job = market.submit(spec);
    market.run_for(microseconds(at_us));
    market.crash_buyer();
    ASSERT_TRUE(market.run_until_ended(job, minutes(5))) << at_us;
    market.run_for(minutes(30));
    EXPECT_EQ(market.buying->job(job, market.now()).value().succeeded, 6u) << at_us;
    EXPECT_TRUE(market.violations.empty()) << at_us << market.violations.front();
    EXPECT_TRUE(market.quiet()) << at_us;
  }
}

TEST(Restart, AtMostOnceRunsOnceWhateverIsLost) {
  for (std::uint64_t seed = 1; seed < 60; ++seed) {
    Prng prng(seed);
    Market market(seed, {{.slots = 1}, {.slots = 2}, {.slots = 2}});
    JobSpec spec;
    spec.work.command = {"true"};
    spec.is_array = true;
    spec.array.last = 7;
    spec.repeat = Repeat::at_most_once;
    JobId job = market.submit(spec);
    market.faults = {15, 10, microseconds(500), milliseconds(5)};
    for (int i = 0; i < 3; ++i) {
      market.run_for(microseconds(prng.between(100, 20'000)));
      market.crash_buyer();
    }
    market.run_for(minutes(2));
    market.faults = {};
    ASSERT_TRUE(market.run_until_ended(job, hours(3))) << seed;
    std::map<TaskId, std::uint32_t> runs;
    for (const auto& [attempt, times] : market.launches) runs[attempt.task] += times;
    for (const auto& [task, times] : runs) EXPECT_EQ(times, 1u) << seed << " " << task.to_string();
  }
}

TEST(Restart, AnAwardOfTheFormerLifeMayStillArriveAtASellerThatDoesNotKnowIt) {
  Market market(61, {{.slots = 0}, {.price = Price{10}, .run = hours(1)}, {.price = Price{1'000}}});
  JobSpec spec;
  spec.work.command = {"true"};
  spec.repeat = Repeat::at_most_once;
  JobId job = market.submit(spec);
  market.run_for(minutes(1));
  market.stop_seller(1, true);
  market.crash_buyer();
  market.run_for(seconds(1));
  market.sellers[1].plan.run = milliseconds(10);
  market.start_seller(1);
  market.run_for(seconds(20));
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 1u) << "TCP may repeat it for so long";
  ASSERT_TRUE(market.run_until_ended(job, minutes(1)));
  EXPECT_GT(market.buying->task({job, 0}).value().attempt, 1u) << "and is placed again once it cannot";
}

/// Streams through the handlers alone: Dones in, Starts out, a seller that costs nothing.
TEST(Throughput, StreamsAnArrayThroughOneLease) {
  constexpr std::uint32_t kTasks = 100'000;
  Market market(1, {{.slots = 0}, {.slots = 64}});
  JobSpec spec;
  spec.work.command = {"true"};
  spec.is_array = true;
  spec.array.last = kTasks - 1;
  spec.expected_run = milliseconds(1);
  Contact seller{Market::node(1), {}};
  Effects fx;
  Buying& buying = *market.buying;
  buying.on(SubmitJob{1, spec}, market, market.now(), fx);
  std::vector<std::pair<LeaseId, AttemptId>> out;
  auto begin = std::chrono::steady_clock::now();
  std::uint32_t ended = 0;
  while (ended < kTasks) {
    Effects next;
    for (Effect& effect : fx.now) {
      auto* send = std::get_if<Send>(&effect);
      if (!send || send->to.node != seller.node) continue;
      if (auto* rfq = std::get_if<Rfq>(&send->message)) {
        Quote quote;
        quote.negotiation = rfq->negotiation;
        quote.lots = {{64, Price{10}, {}, {}}};
        quote.valid_for = seconds(1);
        buying.on(seller, {}, quote, market, market.now(), next);
        Decline decline{rfq->negotiation, 1, {}, {}};
        buying.on(Contact{Market::node(0), {}}, {}, decline, market, market.now(), next);
      } else if (auto* award = std::get_if<Award>(&send->message)) {
        for (const AttemptId& attempt : award->attempts) out.emplace_back(award->lease, attempt);
        buying.on(seller, {}, Accept{award->lease, award->slots, award->lease_time}, market, market.now(), next);
      } else if (auto* start = std::get_if<Start>(&send->message)) {
        for (const AttemptId& attempt : start->attempts) out.emplace_back(start->lease, attempt);
      }
    }
    for (const auto& [lease, attempt] : std::exchange(out, {})) {
      Done done{lease, attempt, {}, milliseconds(1), {}};
      done.end.ended_at = market.now().wall;
      buying.on(seller, {}, done, market, market.now(), next);
      ++ended;
    }
    fx = std::move(next);
    ASSERT_FALSE(fx.now.empty() && ended < kTasks);
  }
  auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  RecordProperty("tasks_per_s", static_cast<int>(kTasks * 1'000.0 / std::max<double>(1, static_cast<double>(took))));
  std::printf("%u tasks in %lld ms\n", kTasks, static_cast<long long>(took));
  EXPECT_EQ(buying.counters().tasks_succeeded, kTasks);
}

}  // namespace
}  // namespace abacus
