// The small parts around the cache: intake, the own offer, the shuffler, round trips.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/overlay/offer_intake.h"
#include "core/overlay/overlay_fixture.h"
#include "core/overlay/own_offer.h"
#include "core/overlay/round_trips.h"
#include "core/overlay/shuffler.h"

namespace abacus {
namespace {

using namespace overlay_test;

class OfferIntakeTest : public testing::Test {
 protected:
  std::size_t news(const std::vector<OfferRef>& offers, Duration since = {}, std::uint32_t source = 1) {
    return intake.news(node_id(source), offers, cache, own_sequence, at(since)).size();
  }

  IntakeConfig config;
  RoundTrips round_trips{RoundTripConfig{}, "here"};
  OfferCache cache{OfferCacheConfig{}, node_id(0), "here", round_trips, Prng(1)};
  OfferIntake intake{config, node_id(0)};
  std::uint64_t own_sequence = 7;
};

TEST_F(OfferIntakeTest, OnlyHigherSequencesAreNews) {
  cache.insert(sign(offer_of(5, 3, kDawn)), kDawn + minutes(5));
  EXPECT_EQ(news({sign(offer_of(5, 2, kDawn)), sign(offer_of(5, 3, kDawn)), nullptr}), 0u);
  EXPECT_EQ(news({sign(offer_of(5, 4, kDawn)), sign(offer_of(6, 1, kDawn))}), 2u);
}

TEST_F(OfferIntakeTest, ExpiredAndFutureOffersAreNot) {
  EXPECT_EQ(news({sign(offer_of(5, 1, kDawn - minutes(5)))}), 0u);
  EXPECT_EQ(news({sign(offer_of(5, 1, kDawn - minutes(5) + seconds(1)))}), 1u);
  EXPECT_EQ(news({sign(offer_of(6, 1, kDawn + seconds(4)))}), 1u) << "clocks differ";
  EXPECT_EQ(news({sign(offer_of(7, 1, kDawn + seconds(6)))}), 0u);
  EXPECT_EQ(news({sign(offer_of(8, 1, WallTime{INT64_MAX})), sign(offer_of(8, 1, WallTime{INT64_MIN}))}), 0u);
}

TEST_F(OfferIntakeTest, NobodysOfferIsKeptForADay) {
  Offer offer = offer_of(5, 1, kDawn);
  offer.valid_for = hours(24);
  EXPECT_EQ(intake.live_until(offer, kDawn), kDawn + config.offer_life_max);
}

TEST_F(OfferIntakeTest, NothingIsCheckedTwiceAtATime) {
  const OfferRef offer = sign(offer_of(5, 1, kDawn));
  EXPECT_EQ(news({offer, offer}), 1u);
  EXPECT_EQ(news({offer}, seconds(1), 2), 0u);
  EXPECT_EQ(news({offer}, config.check_timeout, 2), 1u) << "the first check failed or was lost";
}

TEST_F(OfferIntakeTest, AForgeryDoesNotBlockTheOfferItImitates) {
  SignedOffer forged = *sign(offer_of(5, 1, kDawn));
  forged.signature[0] ^= 1;
  EXPECT_EQ(news({std::make_shared<const SignedOffer>(forged)}), 1u);
  EXPECT_EQ(news({sign(offer_of(5, 1, kDawn))}, milliseconds(1), 2), 1u);
}

TEST_F(OfferIntakeTest, OnePeerCannotUseUpAllChecks) {
  std::vector<OfferRef> flood;
  for (std::uint32_t i = 0; i < 1'000; ++i) flood.push_back(sign(offer_of(100 + i, 1, kDawn)));
  EXPECT_EQ(news(flood), config.checks_per_peer);
  EXPECT_EQ(news({sign(offer_of(5, 1, kDawn))}, {}, 2), 1u);
  EXPECT_EQ(news(flood, config.check_timeout), config.checks_per_peer) << "the window slides";
}

TEST_F(OfferIntakeTest, AllPeersTogetherAreBounded) {
  std::size_t total = 0;
  for (std::uint32_t source = 1; source <= 20; ++source) {
    std::vector<OfferRef> flood;
    for (std::uint32_t i = 0; i < 300; ++i) flood.push_back(sign(offer_of(1'000 * source + i, 1, kDawn)));
    total += news(flood, {}, source);
  }
  EXPECT_EQ(total, config.checks_max);
}

TEST_F(OfferIntakeTest, TheDepartedAreNotTakenBackByOldOffers) {
  intake.departed(node_id(5), 3);
  EXPECT_EQ(news({sign(offer_of(5, 3, kDawn))}), 0u);
  EXPECT_EQ(news({sign(offer_of(5, 4, kDawn))}), 1u);
  for (std::uint32_t i = 0; i < config.departed_max; ++i) intake.departed(node_id(100 + i), 1);
  EXPECT_EQ(news({sign(offer_of(5, 2, kDawn))}), 1u) << "only the latest departures are remembered";
}

TEST_F(OfferIntakeTest, OffersInOnesOwnNameAreNewsOnlyAboveOnesOwn) {
  EXPECT_EQ(news({sign(offer_of(0, 7, kDawn))}), 0u);
  EXPECT_EQ(news({sign(offer_of(0, 8, kDawn))}), 1u);
}

class OwnOfferTest : public testing::Test {
 protected:
  std::vector<SignOffer> refresh(Duration since, Duration wall_jump = {}) {
    Effects effects;
    Now now = at(since);
    now.wall = now.wall + wall_jump;
    own.refresh(now, effects);
    return effects_of<SignOffer>(effects);
  }
  Offer sign_first() {
    const Offer offer = refresh({}).front().offer;
    EXPECT_TRUE(own.signed_as(sign(offer)));
    return offer;
  }

  OwnOfferConfig config;
  OwnOffer own{config, contact(0), OrgId{}, "here", with_device("gpu", "a"), 3};
};

TEST_F(OwnOfferTest, SaysWhatTheNodeIs) {
  const Offer offer = sign_first();
  EXPECT_EQ(offer.contact, contact(0));
  EXPECT_EQ(offer.sequence, (3ull << 32) + 1);
  EXPECT_EQ(offer.issued_at, kDawn);
  EXPECT_EQ(offer.valid_for, minutes(5));
  EXPECT_EQ(offer.region, "here");
  EXPECT_EQ(offer.capacity, with_device("gpu", "a"));
  EXPECT_EQ(own.current()->offer, offer);
}

TEST_F(OwnOfferTest, IsSignedAnewAtHalfItsLife) {
  sign_first();
  EXPECT_TRUE(refresh(seconds(149)).empty());
  const std::vector<SignOffer> again = refresh(seconds(150));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().offer.sequence, (3ull << 32) + 2);
}

TEST_F(OwnOfferTest, IsSignedAnewWhenTheWallClockJumps) {
  sign_first();
  EXPECT_TRUE(refresh(seconds(2), milliseconds(-500)).empty());
  EXPECT_EQ(refresh(seconds(2), minutes(-10)).size(), 1u);
}

TEST_F(OwnOfferTest, IsAskedForAgainWhenNothingComesBack) {
  EXPECT_EQ(refresh({}).size(), 1u);
  EXPECT_TRUE(refresh(seconds(4)).empty());
  EXPECT_EQ(refresh(seconds(5)).size(), 1u);
}

TEST_F(OwnOfferTest, FollowsTheCapacityAtABoundedRate) {
  sign_first();
  Effects effects;
  own.capacity_is(with_device("gpu", "a"), at(seconds(2)), effects);
  EXPECT_TRUE(effects.now.empty()) << "nothing changed";
  own.capacity_is(with_device("gpu", "b"), at(seconds(2)), effects);
  own.capacity_is(with_device("gpu", "c"), at(milliseconds(2'100)), effects);
  EXPECT_EQ(effects.now.size(), 1u);
  const std::vector<SignOffer> later = refresh(seconds(4));
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later.front().offer.capacity, with_device("gpu", "c"));
}

TEST_F(OwnOfferTest, ALateSignatureOfAnEarlierOfferIsIgnored) {
  const Offer first = refresh({}).front().offer;
  const Offer second = refresh(seconds(5)).front().offer;
  EXPECT_FALSE(own.signed_as(sign(first)));
  EXPECT_FALSE(own.signed_as(nullptr));
  EXPECT_TRUE(own.signed_as(sign(second)));
}

TEST_F(OwnOfferTest, GoesAboveWhatAnEarlierLifeSigned) {
  sign_first();
  Effects effects;
  own.overtake(9ull << 32, at(seconds(2)), effects);
  ASSERT_EQ(effects_of<SignOffer>(effects).size(), 1u);
  EXPECT_EQ(own.sequence(), (9ull << 32) + 1);
  own.overtake(UINT64_MAX, at(seconds(9)), effects);
  EXPECT_EQ(own.sequence(), (9ull << 32) + 1);
}

class ShufflerTest : public testing::Test {
 protected:
  void fill(std::uint32_t count) {
    for (std::uint32_t i = 1; i <= count; ++i) cache.insert(sign(offer_of(i, 1, kDawn)), kDawn + minutes(5));
  }

  ShuffleConfig config;
  RoundTrips round_trips{RoundTripConfig{}, "here"};
  OfferCache cache{OfferCacheConfig{}, node_id(0), "here", round_trips, Prng(1)};
  Shuffler shuffler{config, cache, Prng(2)};
  OfferRef own = sign(offer_of(0, 1, kDawn));
};

TEST_F(ShufflerTest, SendsTenOffersTheOwnAmongThem) {
  fill(100);
  Effects effects;
  shuffler.begin(contact(5), own, at({}), effects);
  const auto shuffles = sent<Shuffle>(effects);
  ASSERT_EQ(shuffles.size(), 1u);
  EXPECT_EQ(shuffles[0].second.offers.size(), 10u);
  EXPECT_EQ(shuffles[0].second.offers.front(), own);
}

TEST_F(ShufflerTest, AnswersWithAsManyAsCameAndNoMore) {
  fill(100);
  Effects effects;
  shuffler.answer(contact(5), Shuffle{4, {own, own, own}}, own, effects);
  shuffler.answer(contact(5), Shuffle{5, std::vector<OfferRef>(32, own)}, nullptr, effects);
  const auto replies = sent<ShuffleReply>(effects);
  EXPECT_EQ(replies[0].second.offers.size(), 3u);
  EXPECT_EQ(replies[0].second.exchange, 4u);
  EXPECT_EQ(replies[1].second.offers.size(), config.offers);
}

TEST_F(ShufflerTest, MeasuresTheExchangesItBegan) {
  Effects effects;
  shuffler.begin(contact(5), own, at({}), effects);
  EXPECT_FALSE(shuffler.answered(node_id(6), 1, MonoTime{} + milliseconds(1))) << "somebody else's answer";
  EXPECT_EQ(shuffler.answered(node_id(5), 1, MonoTime{} + milliseconds(3)), milliseconds(3));
  EXPECT_FALSE(shuffler.answered(node_id(5), 1, MonoTime{} + milliseconds(4))) << "answered already";
}

TEST_F(ShufflerTest, ANewcomerGetsEverythingInSeveralMessages) {
  fill(100);
  Effects effects;
  shuffler.welcome(contact(5), own, MonoTime{} + hours(1), effects);
  std::set<NodeId> told;
  for (const auto& [to, reply] : sent<ShuffleReply>(effects)) {
    EXPECT_EQ(to, node_id(5));
    EXPECT_LE(reply.offers.size(), config.welcome_offers);
    for (const OfferRef& offer : reply.offers) told.insert(offer->offer.contact.node);
  }
  EXPECT_EQ(told.size(), 99u) << "all but its own";
}

TEST_F(ShufflerTest, AFloodOfNewcomersGetsSamples) {
  fill(100);
  Effects effects;
  const MonoTime now = MonoTime{} + hours(1);
  for (std::uint32_t i = 0; i < 100; ++i) shuffler.welcome(contact(200 + i), own, now, effects);
  std::size_t offers = 0;
  for (const auto& [to, reply] : sent<ShuffleReply>(effects)) offers += reply.offers.size();
  EXPECT_EQ(offers, config.welcomes_max * 100 + (100 - config.welcomes_max) * config.offers);
  Effects later;
  shuffler.welcome(contact(5), own, now + config.welcome_period, later);
  EXPECT_GT(sent<ShuffleReply>(later).size(), 1u);
}

TEST_F(ShufflerTest, PeriodsAreJittered) {
  std::set<std::int64_t> seen;
  for (int i = 0; i < 20; ++i) {
    const Duration pause = shuffler.next_after(MonoTime{}) - MonoTime{};
    EXPECT_GE(pause, milliseconds(1'500));
    EXPECT_LE(pause, milliseconds(2'500));
    seen.insert(pause.ns);
  }
  EXPECT_GT(seen.size(), 10u);
}

TEST(RoundTripsTest, FallsBackFromNodeToRegionToDefault) {
  const std::string there = "there";
  const std::string here = "here";
  RoundTrips round_trips(RoundTripConfig{}, "here");
  EXPECT_EQ(round_trips.to(node_id(1), &here), milliseconds(1));
  EXPECT_EQ(round_trips.to(node_id(1), &there), milliseconds(30));
  EXPECT_EQ(round_trips.to(node_id(1), nullptr), milliseconds(30));
  round_trips.measured(node_id(1), &there, milliseconds(80));
  EXPECT_EQ(round_trips.to(node_id(1), nullptr), milliseconds(80));
  EXPECT_EQ(round_trips.to(node_id(2), &there), milliseconds(80));
  round_trips.measured(node_id(1), &there, milliseconds(160));
  EXPECT_EQ(round_trips.to(node_id(1), nullptr), milliseconds(90)) << "an eighth of the news";
  round_trips.measured(node_id(1), &there, seconds(11));
  round_trips.measured(node_id(1), &there, Duration{-1});
  EXPECT_EQ(round_trips.to(node_id(1), nullptr), milliseconds(90)) << "no distance";
}

TEST(RoundTripsTest, RemembersABoundedNumberOfNodes) {
  RoundTripConfig config;
  config.peers_max = 4;
  RoundTrips round_trips(config, "here");
  for (std::uint32_t i = 1; i <= 4; ++i) round_trips.measured(node_id(i), nullptr, milliseconds(5));
  round_trips.measured(node_id(1), nullptr, milliseconds(5));
  round_trips.measured(node_id(5), nullptr, milliseconds(5));
  EXPECT_EQ(round_trips.to(node_id(1), nullptr), milliseconds(5));
  EXPECT_EQ(round_trips.to(node_id(2), nullptr), milliseconds(30)) << "the least recently measured";
}

}  // namespace
}  // namespace abacus
