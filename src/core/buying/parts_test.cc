// The rooms of buying, one by one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "core/buying/allocate.h"
#include "core/buying/amounts.h"
#include "core/buying/cool_down.h"
#include "core/buying/history.h"
#include "core/buying/market_search.h"
#include "core/buying/pending_tasks.h"
#include "core/buying/shortlist.h"
#include "core/buying/test_market.h"

namespace abacus {
namespace {

using test::Market;
using test::SellerPlan;

RC_GTEST_PROP(PendingTasks, GivesEachPositionOnceAndForgetsWhatIsRemoved, (std::vector<std::uint8_t> removed)) {
  PendingTasks pending;
  pending.add_fresh(0, 200);
  std::set<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 200; ++i) expected.insert(i);
  for (std::uint8_t position : removed) {
    bool here = expected.erase(position) > 0;
    RC_ASSERT(pending.contains(position) == here);
    RC_ASSERT(pending.remove(position) == here);
  }
  RC_ASSERT(pending.size() == expected.size());
  std::set<std::uint32_t> taken;
  while (!pending.empty()) RC_ASSERT(taken.insert(pending.take()).second);
  RC_ASSERT(taken == expected);
}

TEST(PendingTasks, PlacesAgainBeforeFresh) {
  PendingTasks pending;
  pending.add_fresh(0, 1'000'000);
  EXPECT_EQ(pending.take(), 0u);
  pending.add_again(0);
  EXPECT_EQ(pending.size(), 1'000'000u);
  EXPECT_EQ(pending.take(), 0u);
  EXPECT_EQ(pending.take(), 1u);
  EXPECT_EQ(pending.drop_fresh(), 999'998u);
  EXPECT_TRUE(pending.empty());
}

TEST(Amounts, SaturateInsteadOfOverflowing) {
  EXPECT_EQ(most_cost({1'000'000'000'000}, 100'000, hours(24 * 36'500)).micro, limits::kMaxMoneyMicro);
  EXPECT_EQ(most_cost({-1'000'000'000'000}, 100'000, hours(24 * 36'500)).micro, -limits::kMaxMoneyMicro);
  EXPECT_EQ(most_cost({1'000}, 2, seconds(3)), micro_credits(6'000));
  EXPECT_EQ(most_cost({1}, 1, milliseconds(1)), micro_credits(1));
  EXPECT_EQ(most_cost({1'000}, 1, Duration{-5}), Money{});
  EXPECT_EQ(dearest(micro_credits(6'000), seconds(3)), Price{2'000});
}

TEST(CoolDown, GrowsWithFullJitterUpToItsCapAndIsHalvedBySuccess) {
  BuyingConfig config;
  Prng prng(1);
  CoolDown cool;
  Now now{{1'000}, {}};
  Duration longest;
  for (std::uint32_t i = 0; i < 40; ++i) {
    cool.fail(config, prng, now);
    EXPECT_GT(cool.until, now.mono);
    Duration wait = cool.until - now.mono;
    EXPECT_LE(wait, std::min(config.cool_down_max, config.cool_down_base * (std::int64_t{1} << std::min(i, 20u))));
    longest = std::max(longest, wait);
  }
  EXPECT_GT(longest, seconds(30));
  EXPECT_EQ(cool.level, 20u);
  cool.succeed();
  EXPECT_EQ(cool.level, 10u);
  EXPECT_TRUE(cool.over(now));
}

Quote quote_with(std::vector<Lot> lots) {
  Quote quote;
  quote.lots = std::move(lots);
  return quote;
}

TEST(Score, CountsPriceFeeDelayAndUnreliability) {
  Terms terms{seconds(10), Price{100}};
  Lot lot{1, Price{1'000}, micro_credits(50), seconds(2)};
  Odds sure{Duration{}, 1'000, 1'000, 0};
  EXPECT_EQ(score(lot, terms, sure), micro_credits(10'000 + 50 + 200));
  Odds doubtful{Duration{}, 500, 1'000, 0};
  EXPECT_EQ(score(lot, terms, doubtful), micro_credits(10'250 + 5'500));
  Odds busy{Duration{}, 1'000, 1'000, 2};
  EXPECT_EQ(score(lot, terms, busy), micro_credits(10'250 + 2'000));
}

TEST(Score, RefusesImpossibleNumbers) {
  EXPECT_TRUE(usable(quote_with({{1, Price{5}, {}, {}}})));
  EXPECT_FALSE(usable(quote_with({})));
  EXPECT_FALSE(usable(quote_with({{0, Price{5}, {}, {}}})));
  EXPECT_FALSE(usable(quote_with({{1, Price{4'000'000'000'000}, {}, {}}})));
  EXPECT_FALSE(usable(quote_with({{1, Price{5}, micro_credits(-1), {}}})));
  EXPECT_FALSE(usable(quote_with({{1, Price{5}, {}, hours(24 * 400)}})));
}

TEST(Allocate, SplitsOverSellersWhereThatIsCheaper) {
  Prng prng(3);
  Terms terms{seconds(10), Price{}};
  Quote cheap_then_dear = quote_with({{2, Price{100}, {}, {}}, {8, Price{1'000}, {}, {}}});
  Quote middling = quote_with({{5, Price{200}, {}, {}}});
  std::vector<Bid> bids{{0, &cheap_then_dear, {}}, {1, &middling, {}}};
  std::vector<Pick> picks = allocate(bids, 5, terms, prng);
  ASSERT_EQ(picks.size(), 2u);
  EXPECT_EQ(picks[0].seller, 0u);
  EXPECT_EQ(picks[0].slots, 2u);
  EXPECT_EQ(picks[1].slots, 3u);
  // One price for a lease: taking the dear lot too makes all ten dear.
  picks = allocate(bids, 9, terms, prng);
  ASSERT_EQ(picks.size(), 2u);
  EXPECT_EQ(picks[0].slots + picks[1].slots, 9u);
  EXPECT_EQ(picks[1].lot.price, Price{1'000});
}

TEST(Allocate, BreaksTiesAtRandom) {
  Prng prng(4);
  Quote a = quote_with({{1, Price{100}, {}, {}}}), b = quote_with({{1, Price{101}, {}, {}}});
  std::vector<Bid> bids{{0, &a, {}}, {1, &b, {}}};
  std::array<int, 2> wins{};
  for (int i = 0; i < 1'000; ++i) ++wins[allocate(bids, 1, {seconds(10), Price{}}, prng).front().seller];
  EXPECT_GT(wins[0], 400);
  EXPECT_GT(wins[1], 400);
}

Wanted wanted_for(const JobSpec& spec) {
  return {spec.bundle, shape_of(spec.bundle), spec.regions, {seconds(10), Price{100}}, "north", false, Market::node(0)};
}

TEST(Shortlist, LeavesOutWhatIsTooSmallForbiddenOrCoolingDown) {
  Market market(1, {{}, {.region = "south"}, {.cpu_milli = 500}, {}, {}});
  JobSpec spec;
  spec.regions = {"north"};
  SellerBook book;
  Prng prng(1);
  BuyingConfig config;
  Wanted wanted = wanted_for(spec);
  book.at(Market::node(3), market.now()).shape(wanted.shape).cool_down.fail(config, prng, market.now(), 10);
  Field field = survey(market, book, wanted, {}, market.now());
  EXPECT_EQ(field.nodes, 5u);
  EXPECT_EQ(field.other_regions, 1u);
  EXPECT_EQ(field.feasible, 3u);
  ASSERT_EQ(field.open.size(), 2u);
  EXPECT_TRUE(field.cool_until.has_value());
}

TEST(Shortlist, NamesTheNearestMiss) {
  Market market(1, {{.cpu_milli = 500}, {.cpu_milli = 3'000}, {.cpu_milli = 1'000}});
  JobSpec spec;
  spec.bundle.cpu_milli = 4'000;
  Field field = survey(market, SellerBook{}, wanted_for(spec), {}, market.now());
  EXPECT_EQ(field.feasible, 0u);
  ASSERT_TRUE(field.nearest.has_value());
  EXPECT_EQ(field.nearest->node, Market::node(1));
}

TEST(Shortlist, NamesTheRegionsThatThereAre) {
  Market market(1, {{.region = "south"}, {.region = "east"}, {.region = "south"}});
  JobSpec spec;
  spec.bundle.cpu_milli = 1'000;
  spec.regions = {"north", "west"};
  Field field = survey(market, SellerBook{}, wanted_for(spec), {}, market.now());
  EXPECT_EQ(field.seen_regions, (std::vector<std::string>{"east", "south"}));
  EXPECT_EQ(infeasible_sentence(field, spec),
            "no node known can hold 1 CPU in north or west: looked at 3, 3 of them in other regions: east, south");
}

TEST(Shortlist, FavoursTheCheapButAlwaysTriesTheUnknown) {
  Market market(1, std::vector<SellerPlan>(40));
  SellerBook book;
  JobSpec spec;
  Wanted wanted = wanted_for(spec);
  for (std::size_t i = 1; i < 30; ++i) {
    book.hear(Market::node(i), wanted.shape, quote_with({{9, Price{i < 10 ? 100 : 10'000}, {}, {}}}), market.now());
  }
  Prng prng(5);
  int cheap = 0, dear = 0, unknown = 0;
  for (int round = 0; round < 500; ++round) {
    Field field = survey(market, book, wanted, {}, market.now());
    std::vector<Candidate> drawn = draw(market, field, wanted, 4, prng);
    ASSERT_EQ(drawn.size(), 4u);
    EXPECT_EQ(drawn.front().offer->contact.node, Market::node(0));
    for (std::size_t i = 1; i < drawn.size(); ++i) {
      std::size_t node = drawn[i].offer->contact.node.bytes[0] - 1u;
      ++(node < 10 ? cheap : node < 30 ? dear : unknown);
    }
  }
  EXPECT_GE(unknown, 500);
  EXPECT_GT(cheap, dear * 20);
}

TEST(Sellers, TheBookIsBounded) {
  SellerBook book(100);
  for (std::size_t i = 0; i < 10'000; ++i) {
    book.at(Market::node(i), {{static_cast<std::int64_t>(i)}, {}});
    ASSERT_LE(book.all().size(), 100u);
  }
}

TEST(History, IsBoundedAndSaysWhy) {
  History history;
  for (std::uint32_t i = 0; i < 300; ++i) {
    NegotiationLine line;
    line.seller = Market::node(i);
    line.step = NegotiationStep::declined;
    line.decline = DeclineDetail{DeclineReason::never_fits, {{"cpu_milli", 4'000, 2'000}}, {}, 0, {}};
    history.add(std::move(line), 200);
  }
  ASSERT_EQ(history.lines().size(), 200u);
  EXPECT_NE(history.lines().back().text.find("can never hold it"), std::string::npos);
  EXPECT_NE(history.lines().back().text.find("4 CPU"), std::string::npos);
}

}  // namespace
}  // namespace abacus
