// Conversations of a custodian with scripted sellers.
#include "core/buying/buying.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/buying/test_market.h"

namespace abacus {
namespace {

using test::Market;
using test::SellerPlan;
using testing::HasSubstr;

JobSpec spec_of(std::uint32_t tasks, Duration run = {}) {
  JobSpec spec;
  spec.name = "test";
  spec.work.command = {"true"};
  spec.is_array = tasks > 1;
  spec.array.last = tasks - 1;
  spec.expected_run = run;
  return spec;
}

void expect_clean(const Market& market) { EXPECT_THAT(market.violations, testing::IsEmpty()); }

JobView view(const Market& market, const JobId& job) { return market.buying->job(job, market.now()).value(); }

TEST(Buying, PlacesASingleTaskAndSettles) {
  Market market(1, {{.slots = 0}, {}, {}, {}});
  JobId job = market.submit(spec_of(1));
  ASSERT_TRUE(market.run_until_ended(job, seconds(5)));
  market.run_for(seconds(5));
  JobView seen = view(market, job);
  EXPECT_EQ(seen.succeeded, 1u);
  EXPECT_GT(seen.spent, Money{});
  EXPECT_EQ(seen.committed, Money{});
  EXPECT_EQ(market.jobs_ended_told, 2u) << "once for the end, once for the receipt";
  EXPECT_EQ(market.ends_told.size(), 1u);
  EXPECT_EQ(market.sent("Award"), 1u);
  EXPECT_EQ(market.sent("ReceiptAck"), 1u);
  EXPECT_TRUE(market.quiet());
  TaskView task = market.buying->task({job, 0}).value();
  EXPECT_EQ(task.attempt, 1u);
  EXPECT_EQ(task.phase, TaskPhase::ended);
  EXPECT_FALSE(task.seller.empty());
  for (const auto& seller : market.sellers) EXPECT_TRUE(seller.leases.empty());
  expect_clean(market);
}

TEST(Buying, TakesTheCheapestAndRunsAtHomeIfThatIsIt) {
  Market market(2, {{.price = Price{100}}, {.price = Price{900}}, {.price = Price{900}}});
  JobId job = market.submit(spec_of(1, seconds(10)));
  ASSERT_TRUE(market.run_until_ended(job));
  EXPECT_EQ(market.buying->task({job, 0}).value().seller, Market::node(0));
}

TEST(Buying, StreamsAnArrayThroughFewSlots) {
  Market market(3, {{.slots = 0}, {.slots = 3}, {.slots = 2}});
  JobId job = market.submit(spec_of(500, milliseconds(10)));
  ASSERT_TRUE(market.run_until_ended(job));
  market.run_for(seconds(5));
  EXPECT_EQ(view(market, job).succeeded, 500u);
  EXPECT_LE(market.sent("Award"), 12u);
  EXPECT_EQ(market.launches.size(), 500u);
  EXPECT_TRUE(market.quiet());
  expect_clean(market);
}

TEST(Buying, SharesSlotsAmongShortTasksButGivesLongOnesTheirOwn) {
  Market quick(4, {{.slots = 100}, {.slots = 100, .price = Price{10}}});
  quick.submit(spec_of(1'000, milliseconds(5)));
  quick.run_for(milliseconds(4));
  std::uint32_t slots = 0;
  for (const BoughtLeaseView& lease : quick.buying->leases()) slots += lease.slots;
  EXPECT_EQ(slots, 5u);
  Market slow(4, {{.slots = 100, .run = seconds(30)}, {.slots = 100, .run = seconds(30)}});
  slow.submit(spec_of(100, seconds(30)));
  slow.run_for(milliseconds(100));
  slots = 0;
  for (const BoughtLeaseView& lease : slow.buying->leases()) slots += lease.slots;
  EXPECT_EQ(slots, 100u);
}

TEST(Buying, NeverRunsMoreAtOnceThanAsked) {
  Market market(5, {{.slots = 10}, {.slots = 10}, {.slots = 10}});
  JobSpec spec = spec_of(40, seconds(2));
  spec.array.running_max = 3;
  for (auto& seller : market.sellers) seller.plan.run = seconds(2);
  JobId job = market.submit(spec);
  std::uint32_t most = 0;
  for (int i = 0; i < 400; ++i) {
    market.run_for(milliseconds(100));
    std::uint32_t running = 0;
    for (const auto& seller : market.sellers) {
      for (const auto& [id, lease] : seller.leases) {
        for (const auto& [attempt, state] : lease.attempts) running += state.state == AttemptState::running;
      }
    }
    most = std::max(most, running);
  }
  EXPECT_EQ(most, 3u);
  EXPECT_EQ(view(market, job).succeeded, 40u);
}

TEST(Buying, DoesNotWaitForSilentSellers) {
  Market market(6, {{.slots = 0}, {.silent = true}, {}, {}});
  JobId job = market.submit(spec_of(1));
  ASSERT_TRUE(market.run_until_ended(job, seconds(1)));
  expect_clean(market);
}

TEST(Buying, GoesToTheNextAfterARefusal) {
  Market market(7, {{.slots = 0}, {.price = Price{10}, .refuse_next = 100}, {.price = Price{1'000}}});
  JobId job = market.submit(spec_of(1, seconds(1)));
  ASSERT_TRUE(market.run_until_ended(job, seconds(5)));
  EXPECT_EQ(market.buying->task({job, 0}).value().seller, Market::node(2));
  EXPECT_EQ(market.buying->counters().awards_refused, 1u);
  expect_clean(market);
}

TEST(Buying, AwardsToASilentSellerAreGivenUpAndPlacedElsewhere) {
  Market market(8, {{.slots = 0}, {.price = Price{10}}, {.price = Price{1'000}}});
  JobId job = market.submit(spec_of(1, seconds(1)));
  while (market.sent("Award") == 0) market.run_for(microseconds(100));
  market.stop_seller(1, true);
  ASSERT_TRUE(market.run_until_ended(job, seconds(30)));
  EXPECT_EQ(market.buying->task({job, 0}).value().seller, Market::node(2));
  market.run_for(hours(1));
  EXPECT_TRUE(market.quiet());
  expect_clean(market);
}

TEST(Buying, ACallBackWakesAWaitingJobAtOnce) {
  Market market(9, {{.slots = 0}, {.slots = 1, .run = seconds(20)}});
  JobId first = market.submit(spec_of(1, seconds(20)));
  market.run_for(seconds(1));
  JobId second = market.submit(spec_of(1, seconds(20)));
  ASSERT_TRUE(market.run_until_ended(first));
  MonoTime freed = market.now().mono;
  market.run_for(milliseconds(50));
  EXPECT_EQ(view(market, second).placed, 1u) << (market.now().mono - freed).ms();
}

TEST(Buying, ExplainsWhyATaskWaits) {
  Market market(10, {{.slots = 0}, {.declines = true}});
  JobId job = market.submit(spec_of(1));
  market.run_for(seconds(2));
  ExplainView explained = market.buying->explain({job, 0}, market.now()).value();
  EXPECT_THAT(explained.summary, HasSubstr("without room now"));
  EXPECT_FALSE(explained.lines.empty());
  EXPECT_THAT(explained.lines.back().text, HasSubstr("has no room now"));
  EXPECT_FALSE(view(market, job).waiting_for.empty());
}

TEST(Buying, FailsFastIfNothingCanEverHoldIt) {
  Market market(11, {{}, {}, {.cpu_milli = 90'000}});
  JobSpec spec = spec_of(3);
  spec.bundle.cpu_milli = 100'000;
  JobId job = market.submit(spec);
  EXPECT_TRUE(market.buying->take_wants_search());
  EXPECT_FALSE(market.buying->take_wants_search());
  ASSERT_TRUE(market.run_until_ended(job, seconds(4)));
  TaskEnd end = market.buying->task({job, 2}).value().end.value();
  EXPECT_EQ(end.kind, EndKind::unplaceable);
  EXPECT_THAT(end.message, HasSubstr("looked at 3"));
  EXPECT_THAT(end.message, HasSubstr(Market::node(2).short_string()));
  EXPECT_EQ(market.ends_told.size(), 3u);
  EXPECT_TRUE(market.quiet());
}

TEST(Buying, ABudgetThatBuysNothingFailsWithTheNumbers) {
  Market market(12, {{.price = Price{1'000'000}}, {.price = Price{2'000'000}}});
  JobSpec spec = spec_of(2, seconds(100));
  spec.budget = credits(50);
  JobId job = market.submit(spec);
  ASSERT_TRUE(market.run_until_ended(job, seconds(30)));
  TaskEnd end = market.buying->task({job, 0}).value().end.value();
  EXPECT_EQ(end.kind, EndKind::unplaceable);
  EXPECT_THAT(end.message, HasSubstr("raise the budget to 105.00 cr"));
  expect_clean(market);
}

TEST(Buying, ATightBudgetBuysFewerSlotsAndIsNeverPassed) {
  Market market(13, {{.slots = 0}, {.slots = 50, .price = Price{1'000'000}, .run = seconds(10)}});
  JobSpec spec = spec_of(20, seconds(10));
  spec.budget = credits(250);
  JobId job = market.submit(spec);
  ASSERT_TRUE(market.run_until_ended(job, hours(2)));
  market.run_for(minutes(1));
  JobView seen = view(market, job);
  EXPECT_GT(seen.succeeded, 10u);
  EXPECT_LE(seen.spent, credits(250));
  expect_clean(market);
}

TEST(Buying, WhatIsNotPlacedByTheDeadlineIsGivenUp) {
  Market market(14, {{.slots = 0}, {.declines = true}});
  JobSpec spec = spec_of(1);
  spec.deadline = market.now().wall + seconds(10);
  JobId job = market.submit(spec);
  ASSERT_TRUE(market.run_until_ended(job, seconds(11)));
  EXPECT_THAT(market.buying->task({job, 0}).value().end->message, HasSubstr("deadline"));
  // By these two the command line tells "too late" from "impossible".
  EXPECT_EQ(view(market, job).deadline, spec.deadline);
  EXPECT_GE(market.buying->task({job, 0}).value().end->ended_at, *spec.deadline);
}

TEST(Buying, CancelsWhatWaitsAtOnceAndStopsWhatRuns) {
  Market market(15, {{.slots = 0}, {.slots = 2, .run = hours(1)}});
  JobId job = market.submit(spec_of(10));
  market.run_for(seconds(1));
  EXPECT_EQ(view(market, job).placed, 2u);
  market.cancel(job, 7);
  EXPECT_EQ(market.buying->task({job, 7}).value().end->kind, EndKind::cancelled);
  market.cancel(job);
  ASSERT_TRUE(market.run_until_ended(job, seconds(2)));
  std::vector<TaskView> tasks = market.buying->tasks(job, 0, 10).value();
  for (const TaskView& task : tasks) {
    EXPECT_EQ(task.end->kind, EndKind::cancelled) << task.task.to_string();
  }
  market.run_for(seconds(5));
  EXPECT_TRUE(market.quiet());
  expect_clean(market);
}

TEST(Buying, AnAttemptThatItsSellerKeepsNotKnowingIsNotStartedAgainAtTheNetworksSpeed) {
  Market market(4, {{.slots = 0}, {.run = seconds(60)}});
  JobId job = market.submit(spec_of(1, seconds(60)));
  market.run_for(seconds(3));
  ASSERT_EQ(market.sellers[1].leases.size(), 1u);
  const auto& [lease, sold] = *market.sellers[1].leases.begin();
  const std::uint32_t before = market.sent("Start");
  for (int i = 0; i < 50; ++i) {
    market.inject(1, LeaseReport{lease, true, {{{{job, 0}, 1}, AttemptState::unknown}}});
    market.run_for(milliseconds(1));
  }
  EXPECT_EQ(market.sent("Start") - before, 1u);
}

TEST(Buying, ReceiptsThatComeTooEarlyAreNotAnsweredAtTheNetworksSpeed) {
  Market market(4, {{.slots = 0}, {.run = seconds(60)}});
  JobId job = market.submit(spec_of(1, seconds(60)));
  market.run_for(seconds(3));
  ASSERT_EQ(market.sellers[1].leases.size(), 1u);
  Receipt receipt;
  receipt.lease = market.sellers[1].leases.begin()->first;
  receipt.job = job;
  const std::uint32_t before = market.sent("LeaseBeat");
  for (int i = 0; i < 50; ++i) {
    market.inject(1, receipt);
    market.run_for(milliseconds(1));
  }
  EXPECT_GE(market.sent("LeaseBeat") - before, 1u);
  EXPECT_LE(market.sent("LeaseBeat") - before, 2u);
  market.run_for(seconds(2));
  const std::uint32_t later = market.sent("LeaseBeat");
  market.inject(1, receipt);
  market.run_for(milliseconds(5));
  EXPECT_EQ(market.sent("LeaseBeat") - later, 1u) << "after a while it is asked again";
}

TEST(Buying, ALostInterruptIsRepeated) {
  Market market(16, {{.slots = 0}, {.slots = 2, .run = hours(1)}});
  JobId job = market.submit(spec_of(1));
  market.run_for(seconds(1));
  market.faults.loss_percent = 100;
  market.cancel(job);
  market.run_for(seconds(2));
  market.faults.loss_percent = 0;
  ASSERT_TRUE(market.run_until_ended(job, seconds(20)));
}

TEST(Buying, PlacesLostAttemptsAgainUntilTheTriesAreUsedUp) {
  Market market(17, {{.slots = 0}, {.lose_next = 2, .interrupt_next = 1}});
  JobId job = market.submit(spec_of(1));
  ASSERT_TRUE(market.run_until_ended(job, minutes(5)));
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 4u);
  EXPECT_EQ(view(market, job).succeeded, 1u);
  EXPECT_EQ(market.buying->counters().tasks_lost, 3u);

  Market hopeless(18, {{.slots = 0}, {.lose_next = 1'000}});
  JobSpec spec = spec_of(1);
  spec.attempts_max = 3;
  JobId lost = hopeless.submit(spec);
  ASSERT_TRUE(hopeless.run_until_ended(lost, minutes(5)));
  TaskEnd end = hopeless.buying->task({lost, 0}).value().end.value();
  EXPECT_EQ(end.kind, EndKind::lost);
  EXPECT_THAT(end.message, HasSubstr("3 of 3 attempts"));
  expect_clean(hopeless);
}

TEST(Buying, FetchesOutputsAndTriesAgain) {
  Market market(19, {{.slots = 0}, {.outputs = true}});
  int tries = 0;
  market.fetch_problem = [&](const FetchOutputs&) { return ++tries < 3 ? "connection refused" : ""; };
  JobId job = market.submit(spec_of(1));
  ASSERT_TRUE(market.run_until_ended(job, minutes(1)));
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(view(market, job).succeeded, 1u);
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 1u);
}

TEST(Buying, OutputsThatCannotBeFetchedAreALoss) {
  Market market(20, {{.slots = 0}, {.outputs = true}});
  market.fetch_problem = [](const FetchOutputs& fetch) { return fetch.attempt.number < 2 ? "gone" : ""; };
  JobId job = market.submit(spec_of(1));
  ASSERT_TRUE(market.run_until_ended(job, minutes(1)));
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 2u);
  expect_clean(market);
}

TEST(Buying, ASuspectSellersTasksArePlacedAgainAfterLostAfter) {
  Market market(21, {{.slots = 0}, {.price = Price{10}, .run = hours(10)}, {.price = Price{1'000}}});
  JobSpec spec = spec_of(1);
  spec.lost_after = seconds(20);
  JobId job = market.submit(spec);
  market.run_for(seconds(1));
  ASSERT_EQ(market.buying->task({job, 0}).value().seller, Market::node(1));
  market.stop_seller(1, false);
  market.suspect(1, true);
  market.run_for(seconds(15));
  EXPECT_EQ(view(market, job).placed, 1u);
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 1u);
  ASSERT_TRUE(market.run_until_ended(job, seconds(10)));
  EXPECT_EQ(market.buying->task({job, 0}).value().seller, Market::node(2));
  market.run_for(hours(2));
  EXPECT_TRUE(market.quiet());
  expect_clean(market);
}

TEST(Buying, AtMostOnceWaitsUntilTheSellerHasSurelyStopped) {
  Market market(22, {{.slots = 0}, {.price = Price{10}, .run = hours(10)}, {.price = Price{1'000}}});
  JobSpec spec = spec_of(1);
  spec.lost_after = seconds(20);
  spec.repeat = Repeat::at_most_once;
  JobId job = market.submit(spec);
  market.run_for(seconds(1));
  market.stop_seller(1, true);
  market.suspect(1, true);
  market.run_for(minutes(19));
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 1u);
  ASSERT_TRUE(market.run_until_ended(job, minutes(5)));
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 2u);
  expect_clean(market);
}

TEST(Buying, ASellerThatForgotTheLeaseLosesItsTasksAtTheNextBeat) {
  Market market(23, {{.slots = 0}, {.price = Price{10}, .run = hours(1)}, {.price = Price{1'000}}});
  JobId job = market.submit(spec_of(1));
  market.run_for(seconds(1));
  market.stop_seller(1, true);
  market.run_for(seconds(1));
  market.sellers[1].plan.run = milliseconds(10);
  market.start_seller(1);
  ASSERT_TRUE(market.run_until_ended(job, seconds(10)));
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 2u);
}

TEST(Buying, RenewsALeaseForLongWork) {
  Market market(24, {{.slots = 0}, {.run = minutes(45)}});
  JobId job = market.submit(spec_of(1));
  ASSERT_TRUE(market.run_until_ended(job, hours(1)));
  EXPECT_GE(market.sent("Renew"), 3u);
  EXPECT_EQ(view(market, job).succeeded, 1u);
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 1u);
  expect_clean(market);
}

/// An hour's work on one slot, whose renewals cost something else.
SellerPlan renewing_seller(Price renewal) {
  SellerPlan plan;
  plan.price = Price{1'000};
  plan.renewal = renewal;
  plan.run = hours(1);
  return plan;
}

/// Runs it, and tells what the job was charged and what its receipt claims.
std::pair<Money, Money> renewed_and_charged(Market& market, JobSpec spec) {
  JobId job = market.submit(std::move(spec));
  EXPECT_TRUE(market.run_until_ended(job, hours(3)));
  market.run_for(minutes(2));
  EXPECT_EQ(view(market, job).succeeded, 1u);
  EXPECT_EQ(market.buying->task({job, 0}).value().attempt, 1u);
  expect_clean(market);
  Money claimed;
  for (const auto& [key, value] : market.journal) {
    if (key.first == kRecordKind<ReceiptRecord>) claimed = claimed + decode<ReceiptRecord>(value).value().receipt.owed;
  }
  return {view(market, job).spent, claimed};
}

TEST(Buying, NamesADearerPriceBeforeItPaysIt) {
  Market market(40, {{.slots = 0}, renewing_seller(Price{3'000})});
  auto [charged, claimed] = renewed_and_charged(market, spec_of(1));
  EXPECT_GT(charged, cost_of(Price{2'000}, 1, hours(1)));
  EXPECT_EQ(charged, claimed);
  EXPECT_THAT(market.warnings, testing::IsEmpty());
}

TEST(Buying, TakesACheaperPriceUnasked) {
  Market market(41, {{.slots = 0}, renewing_seller(Price{500})});
  auto [charged, claimed] = renewed_and_charged(market, spec_of(1));
  EXPECT_LT(charged, cost_of(Price{900}, 1, hours(1)));
  EXPECT_EQ(charged, claimed);
}

TEST(Buying, PaysForRenewalsWhoseAnswersItNeverHeard) {
  SellerPlan dear = renewing_seller(Price{3'000});
  Market market(42, {{.slots = 0}, dear});
  JobId job = market.submit(spec_of(1));
  while (!market.sellers[1].plan.renewed_lost && market.sent("Renew") == 0) market.run_for(seconds(1));
  market.sellers[1].plan.renewed_lost = 5;
  ASSERT_TRUE(market.run_until_ended(job, hours(3)));
  market.run_for(minutes(2));
  EXPECT_EQ(market.sellers[1].plan.renewed_lost, 0u);
  EXPECT_THAT(market.warnings, testing::IsEmpty()) << "the receipt claims what was named";
  EXPECT_EQ(view(market, job).succeeded, 1u);
  expect_clean(market);
}

TEST(Buying, ACrashForgetsNoPriceThatWasNamed) {
  Market market(43, {{.slots = 0}, renewing_seller(Price{3'000})});
  JobId job = market.submit(spec_of(1));
  while (market.sent("Renew") < 2) market.run_for(milliseconds(1));
  market.crash_buyer();
  ASSERT_TRUE(market.run_until_ended(job, hours(3)));
  market.run_for(minutes(2));
  EXPECT_THAT(market.warnings, testing::IsEmpty());
  EXPECT_GT(view(market, job).spent, cost_of(Price{2'000}, 1, hours(1)));
  expect_clean(market);
}

TEST(Buying, ASellerThatAsksForMoreEachTimeIsNotAnsweredAtTheNetworksSpeed) {
  SellerPlan greedy = renewing_seller(Price{1'001});
  greedy.renewal_step = Price{1};
  Market market(44, {{.slots = 0}, greedy});
  market.submit(spec_of(1));
  while (market.sent("Renew") == 0) market.run_for(seconds(1));
  std::uint32_t before = market.sent("Renew");
  market.run_for(seconds(60));
  EXPECT_LE(market.sent("Renew") - before, 122u) << "two a second at most";
}

TEST(Buying, AnOfferBeyondTheBudgetLeavesTheLeaseAsItIs) {
  Market market(45, {{.slots = 0}, renewing_seller(Price{1'000'000})});
  JobSpec spec = spec_of(1, hours(1));
  spec.budget = cost_of(Price{1'000}, 1, hours(2));
  JobId job = market.submit(spec);
  market.run_until_ended(job, hours(3));
  market.run_for(minutes(2));
  EXPECT_LE(view(market, job).spent, *spec.budget);
  expect_clean(market);
}

TEST(Buying, RenewsWithSellersThatHeedNoPriceNamed) {
  SellerPlan old = renewing_seller(Price{3'000});
  old.older = true;
  Market market(46, {{.slots = 0}, old});
  auto [charged, claimed] = renewed_and_charged(market, spec_of(1));
  EXPECT_GT(charged, cost_of(Price{2'000}, 1, hours(1)));
  EXPECT_EQ(charged, claimed);
}

TEST(Buying, ChargesNoMoreThanAgreed) {
  Market market(25, {{.slots = 0}, {.price = Price{1'000}, .run = seconds(100), .overcharge = 1'000}});
  JobId job = market.submit(spec_of(1, seconds(100)));
  ASSERT_TRUE(market.run_until_ended(job, minutes(10)));
  market.run_for(seconds(10));
  EXPECT_LT(view(market, job).spent, micro_credits(120'000));
  EXPECT_THAT(market.warnings, testing::Contains(HasSubstr("receipt claims")));
}

TEST(Buying, AwardsUnaskedWhatItHasJustHeardThePriceOf) {
  Market market(26, {{.slots = 0}, {.slots = 64}, {.slots = 64}}, {.fast_explore = 1'000'000});
  for (auto& seller : market.sellers) seller.plan.run = seconds(5);
  market.run_until_ended(market.submit(spec_of(2, seconds(5))));
  std::uint32_t asked = market.sent("Rfq");
  // That price is older than its service time by now; asked again it serves those that follow.
  JobId again = market.submit(spec_of(1, seconds(5)));
  market.run_for(seconds(1));
  std::uint32_t asked_again = market.sent("Rfq");
  EXPECT_GT(asked_again, asked);
  for (int i = 0; i < 5; ++i) market.submit(spec_of(1, seconds(5)));
  market.run_until_ended(again);
  EXPECT_EQ(market.buying->counters().fast_awards, 5u);
  EXPECT_EQ(market.sent("Rfq"), asked_again);
  expect_clean(market);
}

TEST(Buying, FewerSlotsThanAwardedRecallsTheRest) {
  Market market(27, {{.slots = 0}, {.slots = 10, .run = seconds(5), .accept_fewer_by = 4}});
  JobSpec spec = spec_of(8, seconds(5));
  spec.repeat = Repeat::at_most_once;
  JobId job = market.submit(spec);
  ASSERT_TRUE(market.run_until_ended(job, minutes(5)));
  EXPECT_EQ(view(market, job).succeeded, 8u);
  expect_clean(market);
}

TEST(Buying, PlansWithoutBuying) {
  Market market(
      28, {{.price = Price{500}}, {.price = Price{100}}, {.declines = true}, {.silent = true}, {.cpu_milli = 10}});
  PlanResult result = market.plan(spec_of(4, seconds(10)));
  EXPECT_EQ(result.nodes_known, 5u);
  ASSERT_EQ(result.lines.size(), 5u);
  EXPECT_EQ(result.lines[0].seller, Market::node(1));
  EXPECT_EQ(result.lines[0].expected_cost, micro_credits(1'000));
  EXPECT_TRUE(result.lines[1].quote.has_value());
  EXPECT_FALSE(result.lines[2].quote.has_value());
  EXPECT_EQ(result.lines[4].decline->reason, DeclineReason::never_fits);
  EXPECT_EQ(market.sent("Award"), 0u);
  EXPECT_TRUE(market.buying->jobs(market.now(), 10).empty());
}

TEST(Buying, RefusesAJobThatMakesNoSense) {
  Market market(29, {{}});
  JobSpec spec = spec_of(1);
  spec.work.command.clear();
  CommandAnswer answer = market.command([&](RequestId r, Effects& fx) {
    market.buying->on(SubmitJob{r, spec}, market, market.now(), fx);
  });
  ASSERT_TRUE(std::holds_alternative<Error>(answer));
  EXPECT_THAT(std::get<Error>(answer).message, HasSubstr("no command"));
}

TEST(Buying, RefusesAJobThatItsJournalWouldNotReadBack) {
  Market market(29, {{}});
  auto error_of = [&](const JobSpec& spec) {
    CommandAnswer answer = market.command([&](RequestId r, Effects& fx) {
      market.buying->on(SubmitJob{r, spec}, market, market.now(), fx);
    });
    return std::holds_alternative<Error>(answer) ? std::get<Error>(answer).message : "no error";
  };
  JobSpec late = spec_of(1);
  late.deadline = WallTime{INT64_MAX};
  EXPECT_THAT(error_of(late), HasSubstr("deadline"));
  JobSpec long_text = spec_of(1);
  long_text.work.environment = {{"A", std::string(200'000, 'x')}};
  EXPECT_THAT(error_of(long_text), HasSubstr("environment"));
  JobSpec large = spec_of(1);
  large.work.outputs.assign(6, std::string(100'000, 'x'));
  EXPECT_THAT(error_of(large), HasSubstr("want at most 524288"));
  EXPECT_TRUE(market.journal.empty());
}

TEST(Buying, IgnoresLiars) {
  Market market(30, {{.slots = 0}, {.run = seconds(10)}, {.nonsense = true}, {}});
  JobId job = market.submit(spec_of(2, seconds(10)));
  market.run_for(seconds(1));
  LeaseId lease = market.buying->leases().front().lease;
  std::size_t seller = market.buying->leases().front().seller.bytes[0] - 1u;
  std::size_t other = seller == 1 ? 3 : 1;
  TaskEnd fine;
  // The end of a task of another's lease, of a task that is nowhere, of an attempt that never was.
  market.inject(other, Done{lease, {{job, 0}, 1}, fine, {}, {}});
  market.inject(other, Done{LeaseId{}, {{job, 0}, 1}, fine, {}, {}});
  market.inject(seller, Done{lease, {{job, 0}, 9}, fine, {}, {}});
  market.inject(seller, Done{lease, {{job, 77}, 1}, fine, {}, {}});
  market.inject(seller, Done{lease, {{JobId{}, 0}, 1}, fine, {}, {}});
  market.inject(other, LeaseReport{lease, false, {}});
  market.inject(other, Refuse{lease, {}, std::nullopt});
  market.inject(seller, Refuse{lease, {}, std::nullopt});
  market.inject(seller, Accept{lease, 100'000, hours(9)});
  market.inject(other, Accept{LeaseId{}, 1, hours(9)});
  market.inject(seller, Renewed{lease, hours(1'000), Price{1'000'000'000'000}});
  market.inject(other, Release{lease, ReleaseReason::broken});
  Receipt receipt;
  receipt.lease = lease;
  receipt.job = job;
  receipt.slots = 1;
  receipt.owed = credits(1'000'000'000);
  market.inject(other, receipt);
  market.inject(other, CallBack{Quote{}});
  market.inject(other, Started{lease, {{job, 5}, 3}, {}});
  EXPECT_EQ(view(market, job).succeeded, 0u);
  ASSERT_TRUE(market.run_until_ended(job, minutes(1)));
  market.run_for(seconds(10));
  EXPECT_EQ(view(market, job).succeeded, 2u);
  EXPECT_LT(view(market, job).spent, credits(1));
  EXPECT_TRUE(market.quiet());
  expect_clean(market);
}

TEST(Buying, AMillionTasksThatFitNowhereCostOneRecord) {
  Market market(31, {{}, {}});
  JobSpec spec = spec_of(1'000'000);
  spec.bundle.cpu_milli = 1'000'000;
  JobId job = market.submit(spec);
  ASSERT_TRUE(market.run_until_ended(job, seconds(5)));
  EXPECT_EQ(view(market, job).failed, 1'000'000u);
  EXPECT_EQ(market.buying->task({job, 999'999}).value().end->kind, EndKind::unplaceable);
  EXPECT_EQ(market.journal.size(), 1u);
  market.crash_buyer();
  EXPECT_EQ(view(market, job).failed, 1'000'000u);
  EXPECT_TRUE(view(market, job).ended);
}

TEST(Buying, KeepsEndedJobsButNotForEver) {
  Market market(32, {{.slots = 8}}, {.ended_jobs_max = 5});
  for (int i = 0; i < 12; ++i) market.run_until_ended(market.submit(spec_of(3)));
  market.run_for(minutes(1));
  EXPECT_EQ(market.buying->jobs(market.now(), 100).size(), 5u);
  market.run_for(hours(24 * 8));
  EXPECT_TRUE(market.buying->jobs(market.now(), 100).empty());
  for (const auto& [key, value] : market.journal) EXPECT_EQ(key.first, kRecordKind<ReceiptRecord>);
}

}  // namespace
}  // namespace abacus
