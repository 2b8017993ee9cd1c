// Quotes: found by their buyer until they expire or are used, bounded, and summed while out.
#include "core/selling/quote_book.h"

#include <gtest/gtest.h>

#include "core/selling/call_backs.h"
#include "core/selling/recent.h"
#include "core/selling/test_world.h"

namespace abacus {
namespace {

using selling_test::contact;
using selling_test::id;

OpenQuote quote(std::uint8_t buyer, Duration until, bool counted = true) {
  return {id<NodeId>(buyer),  1,      {2'000, 100, 10, {{"gpu", "", 1}}}, 0, {{3, Price{5}, {}, {}}},
          MonoTime{} + until, counted};
}

TEST(QuoteBook, OnlyItsBuyerFindsAQuoteAndOnlyInTime) {
  QuoteBook book(8, 1'000);
  std::uint64_t name = book.add(quote(1, seconds(2)));
  EXPECT_NE(book.find(id<NodeId>(1), name, MonoTime{} + seconds(2)), nullptr);
  EXPECT_EQ(book.find(id<NodeId>(2), name, MonoTime{}), nullptr);
  EXPECT_EQ(book.find(id<NodeId>(1), name, MonoTime{} + seconds(3)), nullptr);
  EXPECT_EQ(book.find(id<NodeId>(1), 0, MonoTime{}), nullptr);
  EXPECT_EQ(book.find(id<NodeId>(1), name + 1, MonoTime{}), nullptr);
  book.use(name);
  EXPECT_EQ(book.find(id<NodeId>(1), name, MonoTime{}), nullptr);
}

TEST(QuoteBook, TheOldestGivesWay) {
  QuoteBook book(2, 1);
  std::uint64_t first = book.add(quote(1, hours(1)));
  std::uint64_t second = book.add(quote(1, hours(1)));
  std::uint64_t third = book.add(quote(1, hours(1)));
  EXPECT_EQ(book.size(), 2u);
  EXPECT_EQ(book.find(id<NodeId>(1), first, MonoTime{}), nullptr);
  EXPECT_NE(book.find(id<NodeId>(1), second, MonoTime{}), nullptr);
  EXPECT_NE(book.find(id<NodeId>(1), third, MonoTime{}), nullptr);
}

TEST(QuoteBook, SumsWhatOthersMayTakeYet) {
  QuoteBook book(8, 1);
  std::uint64_t mine = book.add(quote(1, seconds(9)));
  book.add(quote(2, seconds(1)));
  book.add(quote(3, seconds(9), false));
  EXPECT_EQ(book.counted_out(id<NodeId>(1)).cpu_milli, 6'000u);
  EXPECT_EQ(book.counted_out(id<NodeId>(4)).cpu_milli, 12'000u);
  EXPECT_EQ(book.counted_out(id<NodeId>(4)).devices.size(), 2u);
  EXPECT_EQ(book.cpu_out(id<NodeId>(1)), 12'000u);
  book.expire(MonoTime{} + seconds(5));
  EXPECT_EQ(book.counted_out(id<NodeId>(4)).cpu_milli, 6'000u);
  book.use(mine);
  EXPECT_FALSE(book.any_counted());
  EXPECT_EQ(book.cpu_out(id<NodeId>(4)), 6'000u);
  book.expire(MonoTime{} + seconds(10));
  EXPECT_EQ(book.cpu_out(id<NodeId>(4)), 0u);
  EXPECT_EQ(book.size(), 0u);
}

Asker asker(std::uint8_t buyer, NegotiationId negotiation, Duration at, std::uint32_t count = 1) {
  Rfq rfq;
  rfq.negotiation = negotiation;
  rfq.count = count;
  return {contact(buyer), {}, rfq, MonoTime{} + at};
}

TEST(CallBacks, KeepTheLatestInOrder) {
  CallBacks calls(2, seconds(30));
  calls.remember(asker(1, 1, {}));
  calls.remember(asker(2, 1, {}));
  calls.remember(asker(1, 1, seconds(1), 7));
  ASSERT_EQ(calls.askers().size(), 2u);
  EXPECT_EQ(calls.askers()[0].rfq.count, 7u);
  calls.remember(asker(3, 1, {}));
  EXPECT_EQ(calls.askers()[0].buyer, contact(2));
  calls.forget(id<NodeId>(2), 9);
  EXPECT_EQ(calls.askers().size(), 2u);
  calls.forget(id<NodeId>(2), 1);
  EXPECT_EQ(calls.askers().size(), 1u);
  calls.expire(MonoTime{} + seconds(31));
  EXPECT_TRUE(calls.askers().empty());
}

TEST(Recent, ForgetsTheOldest) {
  Recent<int> recent(2);
  for (int i : {1, 2, 2, 3}) recent.insert(i);
  EXPECT_FALSE(recent.contains(1));
  EXPECT_TRUE(recent.contains(2));
  EXPECT_TRUE(recent.contains(3));
}

}  // namespace
}  // namespace abacus
