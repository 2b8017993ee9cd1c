// Probes, doubt, suspicion, refutation, and rumours.
#include "core/overlay/failure_detector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/overlay/overlay_fixture.h"

namespace abacus {
namespace {

using namespace overlay_test;

class FailureDetectorTest : public testing::Test {
 protected:
  FailureDetectorTest() { detector.start(MonoTime{}); }

  /// Lets time pass; pings to the living are answered at once, indirect probes by helpers as they can.
  void run_until(Duration end) {
    while (detector.next_wake() && *detector.next_wake() - MonoTime{} <= end) {
      clock = std::max(clock, *detector.next_wake() - MonoTime{});
      Effects effects;
      detector.on_wake(at(clock), effects);
      react(effects);
    }
    clock = end;
  }

  void react(const Effects& effects) {
    Effects more;
    for (const auto& [to, ping] : sent<Ping>(effects)) {
      ++pings[to];
      last_ping[to] = ping;
      if (!silent.contains(to))
        detector.on(Contact{to, {}}, PingAck{ping.probe, incarnations[to], {}}, at(clock), more);
      if (refusing.contains(to)) detector.lost(to, at(clock), more);
    }
    for (const auto& [helper, request] : sent<PingRequest>(effects)) {
      ++requests;
      if (silent.contains(helper)) continue;
      const bool reached = !silent.contains(request.target.node) || reachable_by_others.contains(request.target.node);
      detector.on(Contact{helper, {}}, PingRelay{request.probe, request.target.node, reached}, at(clock), more);
    }
    if (!more.now.empty()) react(more);
  }

  void hear(std::uint32_t from, const Rumour& rumour) {
    Effects effects;
    detector.on(contact(from), Ping{99, {rumour}}, at(clock), effects);
    react(effects);
  }

  void neighbours(std::initializer_list<std::uint32_t> numbers) {
    std::vector<Contact> contacts;
    for (std::uint32_t number : numbers) contacts.push_back(contact(number));
    detector.set_members(contacts, {});
  }

  DetectorConfig config;
  RoundTrips round_trips{RoundTripConfig{}, "here"};
  FailureDetector detector{config, node_id(0), 2, round_trips, Prng(3)};
  Duration clock;
  std::set<NodeId> silent;
  std::set<NodeId> refusing;
  std::set<NodeId> reachable_by_others;
  std::map<NodeId, std::uint64_t> incarnations;
  std::map<NodeId, int> pings;
  std::map<NodeId, Ping> last_ping;
  int requests = 0;
};

TEST_F(FailureDetectorTest, EveryMemberIsProbedOncePerCycle) {
  neighbours({1, 2, 3, 4, 5});
  run_until(seconds(50));
  for (std::uint32_t i = 1; i <= 5; ++i) EXPECT_NEAR(pings[node_id(i)], 10, 1);
  EXPECT_EQ(requests, 0);
  EXPECT_TRUE(detector.take_notices().empty());
}

TEST_F(FailureDetectorTest, ManyMembersAreProbedSeveralAPeriod) {
  std::vector<Contact> many;
  for (std::uint32_t i = 1; i <= 45; ++i) many.push_back(contact(i));
  detector.set_members({}, many);
  run_until(seconds(20));
  for (std::uint32_t i = 1; i <= 45; ++i) EXPECT_GE(pings[node_id(i)], 1);
}

TEST_F(FailureDetectorTest, SilenceLeadsToHelpersThenDoubtThenSuspicion) {
  neighbours({1, 2, 3, 4, 5});
  silent.insert(node_id(1));
  Effects effects;
  detector.lost(node_id(1), at({}), effects);
  react(effects);
  run_until(milliseconds(400));
  EXPECT_EQ(requests, 0);
  run_until(milliseconds(600));
  EXPECT_EQ(requests, 3);
  run_until(seconds(7));
  EXPECT_FALSE(detector.is_suspect(node_id(1))) << "1.5 s of probing and 6 s of doubt";
  run_until(seconds(8));
  EXPECT_TRUE(detector.is_suspect(node_id(1)));
  const std::vector<OverlayNotice> notices = detector.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].peer, contact(1));
  EXPECT_TRUE(notices[0].suspect);
  EXPECT_EQ(detector.take_unreachable(), std::vector<Contact>{contact(1)});
  EXPECT_EQ(detector.health(), 0u) << "all helpers said so: this node hears well";
}

TEST_F(FailureDetectorTest, ARefusedConnectionIsNotWaitedFor) {
  neighbours({1, 2, 3, 4, 5});
  silent.insert(node_id(1));
  refusing.insert(node_id(1));
  Effects effects;
  detector.lost(node_id(1), at({}), effects);
  react(effects);
  EXPECT_EQ(requests, 3);
  run_until(milliseconds(5'900));
  EXPECT_FALSE(detector.is_suspect(node_id(1)));
  run_until(seconds(6));
  EXPECT_TRUE(detector.is_suspect(node_id(1)));
}

TEST_F(FailureDetectorTest, ALostConnectionToALivingNodeIsForgiven) {
  neighbours({1, 2});
  Effects effects;
  for (int i = 0; i < 50; ++i) detector.lost(node_id(1), at({}), effects);
  EXPECT_EQ(sent<Ping>(effects).size(), 1u) << "a reason to probe, once";
  react(effects);
  run_until(seconds(20));
  EXPECT_TRUE(detector.take_notices().empty());
}

TEST_F(FailureDetectorTest, AHelpersWordIsEnough) {
  neighbours({1, 2, 3, 4});
  silent.insert(node_id(1));
  reachable_by_others.insert(node_id(1));
  run_until(minutes(2));
  EXPECT_GT(requests, 0);
  EXPECT_TRUE(detector.take_notices().empty());
}

TEST_F(FailureDetectorTest, OthersWhoDoubtShortenTheTime) {
  neighbours({1, 2, 3, 4, 5});
  silent.insert(node_id(1));
  refusing.insert(node_id(1));
  Effects effects;
  detector.lost(node_id(1), at({}), effects);
  react(effects);
  run_until(milliseconds(100));
  for (int repeat = 0; repeat < 5; ++repeat) hear(2, {node_id(1), Liveness::suspect, 0});
  run_until(milliseconds(3'900));
  EXPECT_FALSE(detector.is_suspect(node_id(1))) << "one doubter, however often it says so: 4 s";
  run_until(milliseconds(3'950));
  hear(3, {node_id(1), Liveness::suspect, 0});
  hear(4, {node_id(1), Liveness::suspect, 0});
  run_until(milliseconds(4'000));
  EXPECT_TRUE(detector.is_suspect(node_id(1)));
}

TEST_F(FailureDetectorTest, ARumourAloneCondemnsNobody) {
  neighbours({1, 2, 3, 4, 5});
  for (std::uint32_t liar = 2; liar <= 5; ++liar) {
    hear(liar, {node_id(1), Liveness::suspect, UINT64_MAX});
    hear(liar, {node_id(1), Liveness::left, UINT64_MAX});
  }
  EXPECT_EQ(pings[node_id(1)], 1) << "one probe for all of them";
  run_until(seconds(30));
  EXPECT_TRUE(detector.take_notices().empty());
}

TEST_F(FailureDetectorTest, TheDoubtedIsToldAndAHigherIncarnationClearsIt) {
  neighbours({1, 2, 3});
  silent.insert(node_id(1));
  refusing.insert(node_id(1));
  incarnations[node_id(1)] = 4;
  Effects effects;
  detector.lost(node_id(1), at({}), effects);
  react(effects);
  run_until(seconds(3));
  ASSERT_FALSE(last_ping[node_id(1)].rumours.empty());
  EXPECT_EQ(last_ping[node_id(1)].rumours.front().node, node_id(1));
  EXPECT_EQ(last_ping[node_id(1)].rumours.front().state, Liveness::suspect);
  silent.clear();
  refusing.clear();
  hear(2, {node_id(1), Liveness::alive, 5});
  run_until(seconds(20));
  EXPECT_TRUE(detector.take_notices().empty());
}

TEST_F(FailureDetectorTest, RefutesRumoursAboutItself) {
  neighbours({1, 2});
  EXPECT_EQ(detector.incarnation(), 2ull << 32);
  hear(1, {node_id(0), Liveness::suspect, 5});
  EXPECT_EQ(detector.incarnation(), 2ull << 32) << "an old story";
  hear(1, {node_id(0), Liveness::suspect, 2ull << 32});
  EXPECT_EQ(detector.incarnation(), (2ull << 32) + 1);
  Effects effects;
  detector.on(contact(1), Ping{5, {}}, at(clock), effects);
  const auto acks = sent<PingAck>(effects);
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].second.incarnation, (2ull << 32) + 1);
  ASSERT_EQ(acks[0].second.rumours.size(), 1u);
  EXPECT_EQ(acks[0].second.rumours[0].state, Liveness::alive);
}

TEST_F(FailureDetectorTest, ASuspectThatAnswersIsAliveAgain) {
  neighbours({1, 2, 3});
  silent.insert(node_id(1));
  run_until(seconds(30));
  ASSERT_TRUE(detector.is_suspect(node_id(1)));
  neighbours({2, 3});
  EXPECT_TRUE(detector.is_suspect(node_id(1))) << "no neighbour any more, and still suspect";
  detector.take_notices();
  silent.clear();
  run_until(minutes(2));
  EXPECT_FALSE(detector.is_suspect(node_id(1)));
  const std::vector<OverlayNotice> notices = detector.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_FALSE(notices[0].suspect);
  EXPECT_EQ(detector.take_returned(), std::vector<Contact>{contact(1)});
}

TEST_F(FailureDetectorTest, AWordFromASuspectIsAReasonToAsk) {
  neighbours({1, 2, 3});
  silent.insert(node_id(1));
  run_until(minutes(3));
  ASSERT_TRUE(detector.is_suspect(node_id(1)));
  silent.clear();
  Effects effects;
  detector.heard(node_id(1), at(clock), effects);
  EXPECT_TRUE(detector.is_suspect(node_id(1))) << "it can be heard, but can it hear?";
  react(effects);
  EXPECT_FALSE(detector.is_suspect(node_id(1)));
}

TEST_F(FailureDetectorTest, SuspectsAreProbedEverMoreRarelyAndForgottenInTheEnd) {
  neighbours({1, 2, 3});
  silent.insert(node_id(1));
  run_until(seconds(30));
  neighbours({2, 3});
  pings.clear();
  run_until(minutes(9));
  EXPECT_GE(pings[node_id(1)], 6);
  EXPECT_LE(pings[node_id(1)], 16);
  run_until(minutes(13));
  EXPECT_FALSE(detector.is_suspect(node_id(1)));
  pings.clear();
  run_until(minutes(30));
  EXPECT_EQ(pings[node_id(1)], 0);
}

TEST_F(FailureDetectorTest, ASuspectCounterpartyIsNeverForgotten) {
  detector.set_members({contact(2)}, {contact(1)});
  silent.insert(node_id(1));
  run_until(hours(1));
  EXPECT_TRUE(detector.is_suspect(node_id(1)));
  silent.clear();
  run_until(hours(1) + seconds(15));
  EXPECT_FALSE(detector.is_suspect(node_id(1)));
}

TEST_F(FailureDetectorTest, ANodeThatHearsNobodyDistrustsItself) {
  neighbours({1, 2, 3, 4, 5});
  run_until(seconds(5));
  for (std::uint32_t i = 1; i <= 5; ++i) silent.insert(node_id(i));
  run_until(seconds(10));
  EXPECT_GE(detector.health(), 3u);
  EXPECT_LE(detector.health(), config.health_max);
  silent.clear();
  run_until(minutes(2));
  EXPECT_EQ(detector.health(), 0u);
}

TEST_F(FailureDetectorTest, ProbesForOthers) {
  neighbours({2});
  Effects effects;
  detector.on(contact(1), PingRequest{77, contact(9)}, at({}), effects);
  const auto asked = sent<Ping>(effects);
  ASSERT_EQ(asked.size(), 1u);
  Effects answer;
  EXPECT_FALSE(detector.on(contact(9), PingAck{asked[0].second.probe, 0, {}}, at(milliseconds(5)), answer));
  const auto relays = sent<PingRelay>(answer);
  ASSERT_EQ(relays.size(), 1u);
  EXPECT_EQ(relays[0].first, node_id(1));
  EXPECT_EQ(relays[0].second.probe, 77u);
  EXPECT_TRUE(relays[0].second.reached);
}

TEST_F(FailureDetectorTest, SaysSoWhenAProbeForOthersFails) {
  Effects request;
  detector.on(contact(1), PingRequest{77, contact(9)}, at({}), request);
  Effects effects;
  detector.on_wake(at(milliseconds(500)), effects);
  ASSERT_EQ(sent<PingRelay>(effects).size(), 1u);
  EXPECT_FALSE(sent<PingRelay>(effects)[0].second.reached);
  Effects again;
  detector.on(contact(1), PingRequest{78, contact(9)}, at(seconds(1)), again);
  detector.lost(node_id(9), at(seconds(1)), again);
  EXPECT_EQ(sent<PingRelay>(again).size(), 1u) << "at once where the connection is refused";
}

TEST_F(FailureDetectorTest, ServesABoundedNumberOfRequests) {
  Effects effects;
  for (std::uint32_t i = 0; i < 1'000; ++i) detector.on(contact(1), PingRequest{i, contact(100 + i)}, at({}), effects);
  EXPECT_EQ(sent<Ping>(effects).size(), config.relays_max);
  EXPECT_EQ(sent<PingRelay>(effects).size(), 1'000 - config.relays_max);
}

TEST_F(FailureDetectorTest, IgnoresAnswersNobodyAskedFor) {
  neighbours({1, 2, 3});
  silent.insert(node_id(1));
  run_until(seconds(30));
  ASSERT_TRUE(detector.is_suspect(node_id(1)));
  Effects effects;
  for (std::uint32_t probe = 0; probe < 200; ++probe) {
    detector.on(contact(2), PingAck{probe, 0, {}}, at(clock), effects);
    detector.on(contact(2), PingRelay{probe, node_id(1), true}, at(clock), effects);
    detector.on(contact(9), PingAck{probe, 0, {}}, at(clock), effects);
  }
  EXPECT_TRUE(detector.is_suspect(node_id(1)));
}

TEST_F(FailureDetectorTest, WhoLeavesIsSuspectAtOnce) {
  neighbours({1, 2});
  detector.left(node_id(1), MonoTime{});
  EXPECT_TRUE(detector.is_suspect(node_id(1)));
  detector.left(node_id(9), MonoTime{});
  EXPECT_FALSE(detector.is_suspect(node_id(9))) << "not a member";
}

TEST(RumoursTest, TellsEachAFewTimesTheFreshestFirst) {
  DetectorConfig config;
  Rumours rumours(config);
  rumours.add({node_id(1), Liveness::suspect, 1});
  for (std::uint32_t i = 0; i + 1 < config.rumour_sends; ++i) EXPECT_EQ(rumours.take().size(), 1u);
  rumours.add({node_id(2), Liveness::suspect, 1});
  const std::vector<Rumour> both = rumours.take();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].node, node_id(2));
  EXPECT_EQ(rumours.take().size(), 1u);
}

TEST(RumoursTest, KeepsTheLatestOfANodeAndABoundedNumber) {
  DetectorConfig config;
  Rumours rumours(config);
  rumours.add({node_id(1), Liveness::suspect, 1});
  rumours.add({node_id(1), Liveness::alive, 2});
  ASSERT_EQ(rumours.take().size(), 1u);
  for (std::uint32_t i = 0; i < 1'000; ++i) rumours.add({node_id(10 + i), Liveness::suspect, 1});
  std::size_t told = 0;
  for (int i = 0; i < 100; ++i) told += rumours.take().size();
  EXPECT_EQ(told, config.rumours_max * config.rumour_sends);
}

}  // namespace
}  // namespace abacus
