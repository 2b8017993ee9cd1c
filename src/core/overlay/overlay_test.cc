// One overlay seen from outside: what it asks of the world, what it believes, whom it keeps connected.
#include "core/overlay/overlay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/overlay/overlay_fixture.h"

namespace abacus {
namespace {

using namespace overlay_test;

class OverlayTest : public testing::Test {
 protected:
  OverlayTest() {
    Effects effects;
    overlay.start(at({}), effects);
    const std::vector<SignOffer> wishes = effects_of<SignOffer>(effects);
    EXPECT_EQ(wishes.size(), 1u);
    own = sign(wishes.front().offer);
    overlay.on(OfferSigned{own}, at({}), effects);
  }

  template <class M>
  Effects receive(const Contact& from, const M& message) {
    Effects effects;
    overlay.on(from, TraceContext{}, message, at(clock), effects);
    return effects;
  }
  Effects checked(std::vector<OfferRef> offers) {
    Effects effects;
    overlay.on(OffersChecked{std::move(offers)}, at(clock), effects);
    return effects;
  }
  Effects watch(std::vector<Contact> counterparties) {
    Effects effects;
    overlay.watch(std::move(counterparties), at(clock), effects);
    return effects;
  }
  static Contact inbound(std::uint32_t number) { return {node_id(number), {}}; }

  Overlay overlay{OverlayConfig{}, contact(0), OrgId{}, "here", with_device("gpu", "a"), 4, Prng(9)};
  OfferRef own;
  Duration clock;
};

TEST_F(OverlayTest, ItsOwnOfferIsAmongTheOffers) {
  ASSERT_EQ(overlay.offers(kDawn).size(), 1u);
  EXPECT_EQ(overlay.offers(kDawn).front(), own);
  EXPECT_EQ(overlay.round_trip(node_id(0)), Duration{});
}

TEST_F(OverlayTest, OffersCountOnlyWhenChecked) {
  const OfferRef offer = sign(offer_of(1, 5, kDawn));
  Effects effects = receive(inbound(7), Shuffle{1, {offer}});
  ASSERT_EQ(effects_of<CheckOffers>(effects).size(), 1u);
  EXPECT_EQ(overlay.find(node_id(1)), nullptr);
  checked({offer});
  EXPECT_EQ(overlay.find(node_id(1)), offer);
  EXPECT_EQ(overlay.passive_contacts(), std::vector<Contact>{contact(1)});
}

TEST_F(OverlayTest, OlderExpiredAndRepeatedOffersAreNotEvenChecked) {
  checked({sign(offer_of(1, 5, kDawn))});
  const std::vector<OfferRef> stale = {sign(offer_of(1, 5, kDawn)), sign(offer_of(1, 4, kDawn)),
                                       sign(offer_of(2, 9, kDawn - minutes(5))),
                                       sign(offer_of(3, 1, kDawn + minutes(1))), own};
  EXPECT_TRUE(effects_of<CheckOffers>(receive(inbound(7), ShuffleReply{1, stale})).empty());
  checked({sign(offer_of(1, 4, kDawn)), sign(offer_of(2, 9, kDawn - minutes(5))), nullptr});
  EXPECT_EQ(overlay.find(node_id(1))->offer.sequence, 5u);
  EXPECT_EQ(overlay.find(node_id(2)), nullptr);
}

TEST_F(OverlayTest, ReferralsAreCheckedLikeAnyOffer) {
  Effects effects;
  overlay.heard_referrals({sign(offer_of(1, 5, kDawn))}, at({}), effects);
  EXPECT_EQ(effects_of<CheckOffers>(effects).size(), 1u);
  EXPECT_EQ(overlay.find(node_id(1)), nullptr);
}

TEST_F(OverlayTest, AnOfferOfAnEarlierLifeIsOvertaken) {
  clock = seconds(2);
  const OfferRef old = sign(offer_of(0, 9ull << 32, kDawn));
  EXPECT_EQ(effects_of<CheckOffers>(receive(inbound(7), Shuffle{1, {old}})).size(), 1u);
  const std::vector<SignOffer> wishes = effects_of<SignOffer>(checked({old}));
  ASSERT_EQ(wishes.size(), 1u);
  EXPECT_GT(wishes.front().offer.sequence, 9ull << 32);
  EXPECT_EQ(overlay.find(node_id(0)), own) << "nobody's word about this node counts here";
}

TEST_F(OverlayTest, ANewcomerLearnsTheMarketAtOnce) {
  for (std::uint32_t i = 1; i <= 50; ++i) checked({sign(offer_of(i, 1, kDawn))});
  Effects effects = receive(inbound(200), Join{contact(200)});
  std::size_t told = 0;
  for (const auto& [to, reply] : sent<ShuffleReply>(effects)) told += reply.offers.size();
  EXPECT_EQ(told, 51u);
  ASSERT_EQ(effects_of<KeepConnections>(effects).size(), 1u);
  EXPECT_EQ(effects_of<KeepConnections>(effects)[0].peers, std::vector<Contact>{contact(200)});
}

TEST_F(OverlayTest, WhoDialledInIsAnsweredAtTheEndpointOfItsOffer) {
  Effects unknown = receive(inbound(1), Ping{3, {}});
  EXPECT_FALSE(effects_of<Send>(unknown)[0].to.endpoint.known());
  checked({sign(offer_of(1, 1, kDawn))});
  Effects known = receive(inbound(1), Ping{3, {}});
  EXPECT_EQ(effects_of<Send>(known)[0].to, contact(1));
}

TEST_F(OverlayTest, KeepsConnectionsToNeighboursAndCounterparties) {
  receive(inbound(1), NeighbourRequest{contact(1), false});
  Effects effects = watch({contact(2), contact(1), contact(2)});
  ASSERT_EQ(effects_of<KeepConnections>(effects).size(), 1u);
  std::vector<Contact> both = {contact(1), contact(2)};
  std::sort(both.begin(), both.end());
  EXPECT_EQ(effects_of<KeepConnections>(effects)[0].peers, both);
  EXPECT_TRUE(watch({contact(1), contact(2)}).now.empty()) << "nothing changed";
  EXPECT_EQ(effects_of<KeepConnections>(watch({}))[0].peers, std::vector<Contact>{contact(1)});
}

TEST_F(OverlayTest, ACounterpartyWithoutEndpointKeepsTheOneItHad) {
  watch({contact(2)});
  EXPECT_TRUE(watch({inbound(2)}).now.empty());
}

TEST_F(OverlayTest, ASearchAsksInAndOutOfTheRegionAndIsBounded) {
  for (std::uint32_t i = 1; i <= 100; ++i) checked({sign(offer_of(i, 1, kDawn, i % 2 == 0 ? "here" : "there"))});
  Effects effects;
  overlay.search(at({}), effects);
  std::size_t within = 0;
  const auto shuffles = sent<Shuffle>(effects);
  for (const auto& [to, shuffle] : shuffles) within += overlay.find(to)->offer.region == "here" ? 1 : 0;
  EXPECT_GE(shuffles.size(), 6u);
  EXPECT_LE(shuffles.size(), 8u);
  EXPECT_GE(within, 3u);
  EXPECT_GE(shuffles.size() - within, 3u);
  Effects again;
  overlay.search(at(milliseconds(500)), again);
  EXPECT_TRUE(again.now.empty());
}

TEST_F(OverlayTest, RoundTripsAreLearntFromExchanges) {
  checked({sign(offer_of(1, 1, kDawn, "there")), sign(offer_of(2, 1, kDawn, "there"))});
  EXPECT_EQ(overlay.round_trip(node_id(1)), milliseconds(30));
  Effects effects;
  overlay.search(at({}), effects);
  for (const auto& [to, shuffle] : sent<Shuffle>(effects)) {
    clock = milliseconds(80);
    if (to == node_id(1)) receive(contact(1), ShuffleReply{shuffle.exchange, {}});
  }
  EXPECT_EQ(overlay.round_trip(node_id(1)), milliseconds(80));
  EXPECT_EQ(overlay.round_trip(node_id(2)), milliseconds(80)) << "its region's";
}

TEST_F(OverlayTest, CapacityAndRegionAreInTheView) {
  checked({sign(offer_of(1, 6, kDawn - seconds(3), "there", with_device("fpga", "b")))});
  receive(inbound(1), NeighbourRequest{contact(1), false});
  const std::vector<PeerView> peers = overlay.view(at({}));
  ASSERT_EQ(peers.size(), 2u);
  const PeerView& other = peers[0].self ? peers[1] : peers[0];
  EXPECT_NE(peers[0].self, peers[1].self);
  EXPECT_EQ(other.region, "there");
  EXPECT_EQ(other.capacity, with_device("fpga", "b"));
  EXPECT_EQ(other.age, seconds(3));
  EXPECT_EQ(other.sequence, 6u);
  EXPECT_TRUE(other.neighbour);
  EXPECT_FALSE(other.suspect);
}

TEST_F(OverlayTest, ChangedCapacityIsPublished) {
  Effects effects;
  overlay.on(CapacityProbed{with_device("gpu", "b")}, at(seconds(2)), effects);
  ASSERT_EQ(effects_of<SignOffer>(effects).size(), 1u);
  EXPECT_EQ(effects_of<SignOffer>(effects)[0].offer.capacity, with_device("gpu", "b"));
}

TEST_F(OverlayTest, LeavingSaysGoodbyeAndSleeps) {
  receive(inbound(1), NeighbourRequest{contact(1), false});
  ASSERT_TRUE(overlay.next_wake());
  Effects effects;
  overlay.on(Leaving{}, at({}), effects);
  ASSERT_EQ(sent<Disconnect>(effects).size(), 1u);
  EXPECT_TRUE(sent<Disconnect>(effects)[0].second.leaving);
  EXPECT_FALSE(overlay.next_wake());
}

TEST_F(OverlayTest, AGoodbyeVoidsTheOffer) {
  const OfferRef offer = sign(offer_of(1, 5, kDawn));
  checked({offer});
  receive(inbound(1), NeighbourRequest{contact(1), false});
  receive(inbound(1), Disconnect{true});
  EXPECT_EQ(overlay.find(node_id(1)), nullptr);
  EXPECT_TRUE(overlay.neighbours().empty());
  EXPECT_TRUE(overlay.is_suspect(node_id(1)));
  checked({offer});
  EXPECT_EQ(overlay.find(node_id(1)), nullptr) << "others still pass it on";
  checked({sign(offer_of(1, 6, kDawn))});
  EXPECT_NE(overlay.find(node_id(1)), nullptr) << "it has come back";
}

TEST_F(OverlayTest, StrangersMessagesDoNotBringItDown) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    receive(Contact{}, Join{});
    receive(Contact{}, ForwardJoin{Contact{}, 255});
    receive(inbound(i), NeighbourRequest{contact(i + 1), true});
    receive(inbound(i), NeighbourReply{true});
    receive(inbound(i), Shuffle{i, std::vector<OfferRef>(32)});
    receive(inbound(i), Ping{i, std::vector<Rumour>(32, Rumour{node_id(0), Liveness::suspect, UINT64_MAX})});
    receive(inbound(i), PingAck{i, UINT64_MAX, {}});
    receive(inbound(i), PingRequest{i, Contact{}});
    receive(inbound(i), PingRelay{i, {}, true});
    Effects effects;
    overlay.on_wake(at(clock += milliseconds(700)), effects);
    EXPECT_LE(overlay.neighbours().size(), 8u);
  }
}

}  // namespace
}  // namespace abacus
