// The partial views: walks, requests, one-sided links, bounds, and the way back from isolation.
#include "core/overlay/views.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/overlay/overlay_fixture.h"

namespace abacus {
namespace {

using namespace overlay_test;

class ViewsTest : public testing::Test {
 protected:
  ViewsTest() { views.start(MonoTime{}); }

  template <class M>
  Effects receive(std::uint32_t from, const M& message) {
    Effects effects;
    views.on(contact(from), message, at(clock), effects);
    return effects;
  }
  Effects run_until(Duration end) {
    Effects effects;
    while (views.next_wake() && *views.next_wake() - MonoTime{} <= end) {
      clock = *views.next_wake() - MonoTime{};
      views.on_wake(at(clock), effects);
    }
    clock = end;
    return effects;
  }
  void befriend(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i <= last; ++i) receive(i, NeighbourRequest{contact(i), false});
  }

  ViewsConfig config;
  Views views{config, contact(0), Prng(5)};
  Duration clock;
};

TEST_F(ViewsTest, ASponsorTakesTheJoinerAndSendsItAround) {
  befriend(1, 3);
  Effects effects = receive(9, Join{contact(9)});
  EXPECT_TRUE(views.is_neighbour(node_id(9)));
  EXPECT_EQ(sent<ForwardJoin>(effects).size(), 3u);
  EXPECT_EQ(sent<ForwardJoin>(effects)[0].second.hops_left, config.active_walk);
  EXPECT_EQ(sent<NeighbourReply>(effects).size(), 1u);
  effects = receive(9, Join{contact(9)});
  EXPECT_TRUE(sent<ForwardJoin>(effects).empty()) << "a repeated join is answered and not spread again";
  EXPECT_EQ(sent<NeighbourReply>(effects).size(), 1u);
}

TEST_F(ViewsTest, NobodySpeaksForOthers) {
  receive(1, Join{contact(2)});
  receive(1, NeighbourRequest{contact(2), true});
  receive(1, Join{contact(0)});
  EXPECT_TRUE(views.active().empty());
}

TEST_F(ViewsTest, AFullViewMakesRoomForAJoinerAndForTheUrgentOnly) {
  befriend(1, 8);
  EXPECT_EQ(views.active().size(), 8u);
  EXPECT_FALSE(sent<NeighbourReply>(receive(9, NeighbourRequest{contact(9), false}))[0].second.accepted);
  EXPECT_FALSE(views.is_neighbour(node_id(9)));
  Effects effects = receive(10, NeighbourRequest{contact(10), true});
  EXPECT_TRUE(sent<NeighbourReply>(effects)[0].second.accepted);
  ASSERT_EQ(sent<Disconnect>(effects).size(), 1u);
  EXPECT_FALSE(views.is_neighbour(sent<Disconnect>(effects)[0].first));
  EXPECT_EQ(views.active().size(), 8u);
  EXPECT_EQ(views.passive().size(), 2u) << "the refused and the dropped one";
}

TEST_F(ViewsTest, AWalkEndsWhereThereIsNeedOrNoWayOn) {
  befriend(1, 3);
  Effects effects = receive(1, ForwardJoin{contact(9), 200});
  ASSERT_EQ(sent<ForwardJoin>(effects).size(), 1u);
  EXPECT_EQ(sent<ForwardJoin>(effects)[0].second.hops_left, config.active_walk - 1) << "cut to what may be asked";
  EXPECT_NE(sent<ForwardJoin>(effects)[0].first, node_id(1));
  EXPECT_TRUE(views.passive().empty());
  receive(1, ForwardJoin{contact(10), config.passive_walk});
  EXPECT_EQ(views.passive(), std::vector<Contact>{contact(10)});
  EXPECT_EQ(sent<NeighbourRequest>(receive(1, ForwardJoin{contact(9), 0})).size(), 1u);
  befriend(4, 6);
  EXPECT_TRUE(sent<NeighbourRequest>(receive(1, ForwardJoin{contact(11), 0})).empty());
  EXPECT_TRUE(receive(1, ForwardJoin{contact(0), 3}).now.empty()) << "its own join";
}

TEST_F(ViewsTest, ALostNeighbourIsReplacedFromThePassiveView) {
  befriend(1, 6);
  for (std::uint32_t i = 20; i < 30; ++i) views.learn(contact(i), MonoTime{});
  views.take_changed();
  views.lost(contact(3), MonoTime{});
  EXPECT_TRUE(views.take_changed());
  Effects effects = run_until(milliseconds(1'300));
  const auto requests = sent<NeighbourRequest>(effects);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_FALSE(requests[0].second.urgent);
  Effects reply;
  views.on(Contact{requests[0].first, {}}, NeighbourReply{true}, at(clock), reply);
  EXPECT_TRUE(views.is_neighbour(requests[0].first));
  EXPECT_TRUE(views.active().back().endpoint.known()) << "as it was asked at";
}

TEST_F(ViewsTest, RefusedSeekersInsistAndAskSomebodyElse) {
  befriend(1, 5);
  views.learn(contact(20), MonoTime{});
  views.learn(contact(21), MonoTime{});
  const auto first = sent<NeighbourRequest>(run_until(milliseconds(1'300)));
  ASSERT_EQ(first.size(), 1u);
  Effects effects;
  views.on(Contact{first[0].first, {}}, NeighbourReply{false}, at(clock), effects);
  const auto second = sent<NeighbourRequest>(run_until(seconds(5)));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(second[0].first, first[0].first);
  EXPECT_TRUE(second[0].second.urgent);
}

TEST_F(ViewsTest, AnEmptyViewIsUrgent) {
  befriend(1, 1);
  views.learn(contact(20), MonoTime{});
  run_until(seconds(1));
  views.lost(contact(1), MonoTime{} + clock);
  const auto requests = sent<NeighbourRequest>(run_until(seconds(7)));
  ASSERT_FALSE(requests.empty());
  EXPECT_TRUE(requests.back().second.urgent);
}

TEST_F(ViewsTest, OneSidedLinksAreFound) {
  befriend(1, 1);
  const auto requests = sent<NeighbourRequest>(run_until(seconds(13)));
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].first, node_id(1));
  receive(1, NeighbourReply{false});
  EXPECT_TRUE(views.active().empty());
}

/// Seven nodes with six neighbours each miss nobody, and would stay among themselves.
TEST_F(ViewsTest, AFullViewExchangesANeighbourNowAndThen) {
  befriend(1, 6);
  views.learn(contact(20), MonoTime{});
  const auto requests = sent<NeighbourRequest>(run_until(seconds(20)));
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(requests.back().first, node_id(20));
  EXPECT_FALSE(requests.back().second.urgent);
  receive(20, NeighbourReply{true});
  EXPECT_EQ(views.active().size(), 7u);
  views.learn(contact(21), MonoTime{} + clock);
  Effects effects = run_until(seconds(65));
  ASSERT_EQ(sent<Disconnect>(effects).size(), 1u) << "somebody makes way";
  EXPECT_FALSE(sent<Disconnect>(effects)[0].second.leaving);
  EXPECT_EQ(views.active().size(), 6u);
}

TEST_F(ViewsTest, MixingSlowsDown) {
  std::size_t dropped = 0;
  for (int minute = 1; minute <= 60; ++minute) {
    befriend(1, 8);
    for (std::uint32_t i = 20; i < 40; ++i) views.learn(contact(i), MonoTime{} + clock);
    if (minute == 31) dropped = 0;
    dropped += sent<Disconnect>(run_until(minutes(minute))).size();
  }
  EXPECT_GE(dropped, 2u);
  EXPECT_LE(dropped, 4u) << "one in ten minutes";
}

TEST_F(ViewsTest, AContactThatDoesNotAnswerIsGivenUp) {
  befriend(1, 1);
  views.learn(contact(20), MonoTime{});
  run_until(milliseconds(1'300));
  EXPECT_EQ(views.passive().size(), 1u);
  run_until(seconds(6));
  EXPECT_TRUE(views.passive().empty());
  EXPECT_TRUE(views.is_neighbour(node_id(1)));
}

TEST_F(ViewsTest, JoinsThroughEverySeedWithGrowingPauses) {
  Effects effects;
  Contact nameless{{}, contact(2).endpoint};
  views.add_seeds({contact(1), nameless, contact(0), Contact{{}, contact(0).endpoint}, Contact{node_id(3), {}}}, at({}),
                  effects);
  EXPECT_EQ(sent<Join>(effects).size(), 1u);
  const std::size_t early = sent<Join>(run_until(seconds(20))).size();
  EXPECT_GE(early, 3u);
  EXPECT_LE(early, 6u);
  Effects later = run_until(minutes(20));
  std::set<NodeId> asked;
  for (const auto& [to, join] : sent<Join>(later)) asked.insert(to);
  EXPECT_EQ(asked, (std::set<NodeId>{node_id(1), NodeId{}}));
  EXPECT_GE(sent<Join>(later).size(), 30u) << "for ever";
  receive(1, NeighbourReply{true});
  EXPECT_TRUE(views.is_neighbour(node_id(1)));
  EXPECT_TRUE(sent<Join>(run_until(minutes(40))).empty());
}

TEST_F(ViewsTest, ReachesOutToTheLostForEver) {
  befriend(1, 2);
  views.lost(contact(1), MonoTime{});
  run_until(seconds(26));
  EXPECT_EQ(views.take_reach_outs(), std::vector<Contact>{contact(1)});
  run_until(hours(3));
  EXPECT_GE(views.take_reach_outs().size(), 10u);
  Effects effects;
  views.heard(node_id(1), at(clock), effects);
  EXPECT_EQ(sent<NeighbourRequest>(effects).size(), 1u) << "it is back";
}

TEST_F(ViewsTest, TooManyYesesAreUndone) {
  befriend(1, 8);
  EXPECT_EQ(sent<Disconnect>(receive(9, NeighbourReply{true})).size(), 1u);
  EXPECT_EQ(views.active().size(), 8u);
}

TEST_F(ViewsTest, AGoodbyeIsNotKept) {
  befriend(1, 2);
  receive(1, NeighbourReply{true});
  Effects effects;
  views.on(contact(1), Disconnect{false}, at(clock));
  views.on(contact(2), Disconnect{true}, at(clock));
  EXPECT_TRUE(views.active().empty());
  EXPECT_EQ(views.passive(), std::vector<Contact>{contact(1)});
}

TEST_F(ViewsTest, NewsOfAnEndpointReachTheConnections) {
  befriend(1, 1);
  views.take_changed();
  Contact moved = contact(1);
  moved.endpoint.port = 9'999;
  views.learn(moved, MonoTime{});
  EXPECT_TRUE(views.take_changed());
  EXPECT_EQ(views.active(), std::vector<Contact>{moved});
}

RC_GTEST_PROP(ViewsProperty, BoundsHoldWhateverComes, ()) {
  const ViewsConfig config;
  Views views(config, contact(0), Prng(*rc::gen::arbitrary<std::uint64_t>()));
  Prng draws(*rc::gen::arbitrary<std::uint64_t>());
  views.start(MonoTime{});
  Duration clock;
  for (int step = 0; step < 400; ++step) {
    Effects effects;
    clock += milliseconds(static_cast<std::int64_t>(draws.below(800)));
    views.on_wake(at(clock), effects);
    const auto number = static_cast<std::uint32_t>(draws.below(100));
    switch (draws.below(9)) {
      case 0: views.on(contact(number), Join{contact(number)}, at(clock), effects); break;
      case 1:
        views.on(contact(1), ForwardJoin{contact(number), static_cast<std::uint8_t>(draws.below(256))}, at(clock),
                 effects);
        break;
      case 2:
        views.on(contact(number), NeighbourRequest{contact(number), draws.chance(1, 2)}, at(clock), effects);
        break;
      case 3: views.on(contact(number), NeighbourReply{draws.chance(1, 2)}, at(clock), effects); break;
      case 4: views.on(contact(number), Disconnect{draws.chance(1, 2)}, at(clock)); break;
      case 5: views.lost(contact(number), MonoTime{} + clock); break;
      case 6: views.returned(contact(number), at(clock), effects); break;
      case 7: views.unreachable(node_id(number), MonoTime{} + clock); break;
      default: views.learn(contact(number), MonoTime{} + clock);
    }
    RC_ASSERT(views.active().size() <= config.active_max);
    RC_ASSERT(views.passive().size() <= config.passive_max);
    std::set<NodeId> nodes;
    for (const Contact& neighbour : views.active()) nodes.insert(neighbour.node);
    for (const Contact& passive : views.passive()) nodes.insert(passive.node);
    RC_ASSERT(nodes.size() == views.active().size() + views.passive().size());
    RC_ASSERT(!nodes.contains(node_id(0)));
    RC_ASSERT(effects.now.size() <= 40u);
  }
}

}  // namespace
}  // namespace abacus
