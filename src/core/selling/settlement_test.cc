// Money owed, to the micro-credit, and never past the range of a message.
#include "core/selling/settlement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "protocol/limits.h"

namespace abacus {
namespace {

WallTime at(Duration d) { return WallTime{hours(500'000).ns} + d; }

SoldLeaseRecord lease(std::uint32_t slots, Price price) {
  SoldLeaseRecord record;
  record.slots = slots;
  record.opened_at = at({});
  record.spans = {{at({}), price}};
  record.fee = micro_credits(7);
  return record;
}

TEST(Settlement, SpansAtTheirOwnPrices) {
  SoldLeaseRecord record = lease(2, Price{100});
  change_price(record, Price{100}, at(seconds(5)));
  EXPECT_EQ(record.spans.size(), 1u);
  change_price(record, Price{30}, at(seconds(10)));
  Receipt receipt = settle(record, {3, seconds(1), seconds(2)}, at(seconds(14)));
  EXPECT_EQ(receipt.fees, micro_credits(21));
  EXPECT_EQ(receipt.owed, micro_credits(2 * 10 * 100 + 2 * 4 * 30 + 21));
  EXPECT_EQ(receipt.reserved, seconds(28));
  EXPECT_EQ(receipt.tasks_ended, 3u);
}

TEST(Settlement, AClockThatWentBackCostsNothing) {
  SoldLeaseRecord record = lease(1, Price{100});
  change_price(record, Price{50}, at(seconds(-30)));
  Receipt receipt = settle(record, {}, at(seconds(-60)));
  EXPECT_EQ(receipt.owed, Money{});
  EXPECT_EQ(receipt.reserved, Duration{});
  EXPECT_GE(receipt.closed_at, receipt.opened_at);
}

TEST(Settlement, AttemptsThatNeverStartedAreNoTasks) {
  RunRecord run{{}, {}, at({}), {}, TaskEnd{}, {}};
  Metered sum;
  add(sum, run);
  EXPECT_EQ(sum.tasks_ended, 0u);
  run.started_at = at(seconds(2));
  run.end->ended_at = at(seconds(5));
  add(sum, run);
  EXPECT_EQ(sum.tasks_ended, 1u);
  EXPECT_EQ(sum.staging, seconds(2));
  EXPECT_EQ(sum.running, seconds(3));
}

RC_GTEST_PROP(SettlementProperty, OwedIsTheSumOfItsSpans, ()) {
  SoldLeaseRecord record =
      lease(*rc::gen::inRange<std::uint32_t>(1, 1'000), Price{*rc::gen::inRange<std::int64_t>(0, 1'000'000)});
  Duration when{};
  Money expected;
  for (int i = *rc::gen::inRange(0, 5); i >= 0; --i) {
    Duration step{*rc::gen::inRange<std::int64_t>(0, hours(2).ns)};
    expected += cost_of(record.spans.back().price, record.slots, step);
    when += step;
    Price next{record.spans.back().price.micro_per_s + *rc::gen::inRange<std::int64_t>(1, 100)};
    if (i > 0) change_price(record, next, at(when));
  }
  auto tasks = *rc::gen::inRange<std::uint32_t>(0, 100);
  Receipt receipt = settle(record, {tasks, {}, {}}, at(when));
  RC_ASSERT(receipt.owed == expected + record.fee * tasks);
}

RC_GTEST_PROP(SettlementProperty, AbsurdLeasesFitAMessage, ()) {
  SoldLeaseRecord record =
      lease(limits::kSlots, Price{*rc::gen::element<std::int64_t>(-1'000'000'000'000, 1'000'000'000'000)});
  record.fee = {limits::kMaxMoneyMicro};
  Metered metered{~0u, {limits::kMaxDurationNs}, {limits::kMaxDurationNs}};
  Receipt receipt = settle(record, metered, WallTime{*rc::gen::arbitrary<std::int64_t>()});
  RC_ASSERT(decode<Receipt>(encode(receipt)).has_value());
}

}  // namespace
}  // namespace abacus
