// The offer cache: its invariants under any sequence of insertions and expiries, and the shares of its strata.
#include "core/overlay/offer_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "core/overlay/overlay_fixture.h"

namespace abacus {
namespace {

using namespace overlay_test;

struct Fixture {
  explicit Fixture(OfferCacheConfig config_ = {})
      : config(config_), cache(config, node_id(0), "here", round_trips, Prng(1)) {}

  bool insert(const Offer& offer) { return cache.insert(sign(offer), offer.issued_at + offer.valid_for); }

  OfferCacheConfig config;
  RoundTrips round_trips{RoundTripConfig{}, "here"};
  OfferCache cache;
};

std::size_t holders(const OfferCache& cache, const std::string& name) {
  std::size_t count = 0;
  for (const OfferRef& offer : cache.offers()) {
    const std::vector<std::string> classes = device_classes(offer->offer.capacity);
    if (offer->offer.contact.node != node_id(0)) count += std::count(classes.begin(), classes.end(), name);
  }
  return count;
}

std::size_t in_region(const OfferCache& cache, const std::string& region) {
  return static_cast<std::size_t>(std::count_if(
      cache.offers().begin(), cache.offers().end(),
      [&](const OfferRef& offer) { return offer->offer.region == region && offer->offer.contact.node != node_id(0); }));
}

void expect_ordered_and_counted(const OfferCache& cache) {
  for (std::size_t i = 1; i < cache.offers().size(); ++i) {
    RC_ASSERT(cache.offers()[i - 1]->offer.contact.node < cache.offers()[i]->offer.contact.node);
  }
  for (int model = 0; model < 12; ++model) {
    const std::string name = "gpu:m" + std::to_string(model);
    RC_ASSERT(cache.holders_of(name) == holders(cache, name));
  }
  for (int region = 0; region < 6; ++region) {
    const std::string name = "r" + std::to_string(region);
    RC_ASSERT(cache.nodes_in(name) == in_region(cache, name));
  }
}

RC_GTEST_PROP(OfferCacheProperty, InvariantsHoldUnderAnySequence, ()) {
  OfferCacheConfig config;
  config.capacity = 40;
  Fixture fixture(config);
  WallTime now = kDawn;
  std::map<NodeId, std::uint64_t> highest;
  const auto steps = *rc::gen::inRange(50, 300);
  Prng draws(*rc::gen::arbitrary<std::uint64_t>());
  for (int step = 0; step < steps; ++step) {
    if (draws.chance(1, 10)) {
      now = now + seconds(static_cast<std::int64_t>(draws.below(120)));
      fixture.cache.expire(now);
      for (const OfferRef& offer : fixture.cache.offers()) {
        RC_ASSERT(offer->offer.issued_at + offer->offer.valid_for > now);
      }
      continue;
    }
    const auto model = draws.below(24);  // Twelve classes, and as many nodes without a device.
    Offer offer = offer_of(static_cast<std::uint32_t>(draws.below(120)), draws.below(5), now,
                           draws.chance(1, 3) ? "here" : "r" + std::to_string(draws.below(6)),
                           model < 12 ? with_device("gpu", "m" + std::to_string(model)) : with_device("", ""));
    const std::optional<std::uint64_t> before = fixture.cache.sequence_of(offer.contact.node);
    std::map<std::string, std::size_t> held;
    for (int m = 0; m < 12; ++m)
      held["gpu:m" + std::to_string(m)] = fixture.cache.holders_of("gpu:m" + std::to_string(m));
    RC_ASSERT(fixture.insert(offer) == (!before || offer.sequence > *before));
    // Twelve classes of three fill more than 60 % of 40, so two of each are safe. A node that changes its hardware
    // takes its old class with it.
    for (const auto& [name, count] : held) {
      if (!before) RC_ASSERT(fixture.cache.holders_of(name) >= std::min<std::size_t>(count, 2));
    }
    const std::size_t own = fixture.cache.find(node_id(0)) != nullptr ? 1 : 0;
    RC_ASSERT(fixture.cache.offers().size() <= config.capacity + own);
  }
  expect_ordered_and_counted(fixture.cache);
}

TEST(OfferCache, TheHigherSequenceWins) {
  Fixture fixture;
  EXPECT_TRUE(fixture.insert(offer_of(1, 5, kDawn)));
  EXPECT_FALSE(fixture.insert(offer_of(1, 4, kDawn + seconds(1))));
  EXPECT_FALSE(fixture.insert(offer_of(1, 5, kDawn + seconds(1))));
  EXPECT_TRUE(fixture.insert(offer_of(1, 6, kDawn)));
  EXPECT_EQ(fixture.cache.offers().size(), 1u);
  EXPECT_EQ(fixture.cache.find(node_id(1))->offer.sequence, 6u);
}

TEST(OfferCache, SharesAreSixtyThirtyTen) {
  Fixture fixture;
  const std::string far = "far";
  fixture.round_trips.measured(node_id(90'000), &far, milliseconds(200));
  for (std::uint32_t i = 1; i <= 3'000; ++i) {
    const char* region = i % 10 == 0 ? "here" : i % 10 < 4 ? "near" : "far";
    fixture.insert(offer_of(i, 1, kDawn, region));
  }
  EXPECT_EQ(fixture.cache.offers().size(), 300u);
  EXPECT_NEAR(static_cast<double>(in_region(fixture.cache, "here")), 180, 3);
  EXPECT_NEAR(static_cast<double>(in_region(fixture.cache, "near")), 90, 3);
  EXPECT_NEAR(static_cast<double>(in_region(fixture.cache, "far")), 30, 3);
}

TEST(OfferCache, AnEmptyStratumLeavesItsPlacesToOthers) {
  Fixture fixture;
  for (std::uint32_t i = 1; i <= 1'000; ++i) fixture.insert(offer_of(i, 1, kDawn));
  EXPECT_EQ(in_region(fixture.cache, "here"), 300u);
}

TEST(OfferCache, ThreeOfEveryClassStayWhateverComes) {
  Fixture fixture;
  for (std::uint32_t i = 0; i < 3 * 40; ++i) {
    fixture.insert(offer_of(1 + i, 1, kDawn, "elsewhere", with_device("fpga", "f" + std::to_string(i % 40))));
  }
  for (std::uint32_t i = 0; i < 5'000; ++i)
    fixture.insert(offer_of(1'000 + i, 1, kDawn, "here", with_device("gpu", "usual")));
  for (int model = 0; model < 40; ++model) EXPECT_EQ(fixture.cache.holders_of("fpga:f" + std::to_string(model)), 3u);
  EXPECT_EQ(fixture.cache.offers().size(), 300u);
}

TEST(OfferCache, TooManyClassesShareTheRetainedPlaces) {
  Fixture fixture;
  for (std::uint32_t i = 0; i < 3 * 121; ++i) {
    fixture.insert(offer_of(1 + i, 1, kDawn, "here", with_device("fpga", "f" + std::to_string(i % 121))));
  }
  for (std::uint32_t i = 0; i < 5'000; ++i) fixture.insert(offer_of(1'000 + i, 1, kDawn, "here", with_device("", "")));
  std::size_t rare = 0;
  for (int model = 0; model < 121; ++model) {
    EXPECT_GE(fixture.cache.holders_of("fpga:f" + std::to_string(model)), 1u) << model;
    rare += fixture.cache.holders_of("fpga:f" + std::to_string(model));
  }
  EXPECT_LE(rare, 180u) << "the others must go on circulating";
}

TEST(OfferCache, MoreClassesThanPlacesDoNotFreezeIt) {
  Fixture fixture;
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    fixture.insert(offer_of(1 + i, 1, kDawn, "here", with_device("made-up", std::to_string(i))));
  }
  EXPECT_EQ(fixture.cache.offers().size(), 300u);
  std::size_t late = 0;
  for (std::uint32_t i = 1'700; i < 2'000; ++i) late += fixture.cache.find(node_id(1 + i)) != nullptr ? 1 : 0;
  EXPECT_GE(late, 60u);
}

TEST(OfferCache, ThreeContactsOfEachRegionStay) {
  Fixture fixture;
  for (std::uint32_t i = 0; i < 60; ++i) fixture.insert(offer_of(1 + i, 1, kDawn, "region" + std::to_string(i % 20)));
  for (std::uint32_t i = 0; i < 5'000; ++i)
    fixture.insert(offer_of(1'000 + i, 1, kDawn, i % 2 == 0 ? "here" : "region0"));
  for (int region = 1; region < 20; ++region)
    EXPECT_EQ(in_region(fixture.cache, "region" + std::to_string(region)), 3u);
}

TEST(OfferCache, WhatExpiredDoesNotCountAsRetained) {
  Fixture fixture;
  for (std::uint32_t i = 1; i <= 3; ++i) fixture.insert(offer_of(i, 1, kDawn, "here", with_device("fpga", "a")));
  fixture.cache.expire(kDawn + minutes(6));
  EXPECT_EQ(fixture.cache.holders_of("fpga:a"), 0u);
  EXPECT_TRUE(fixture.cache.offers().empty());
  EXPECT_TRUE(fixture.insert(offer_of(2, 1, kDawn + minutes(6), "here", with_device("fpga", "a"))));
  EXPECT_EQ(fixture.cache.holders_of("fpga:a"), 1u);
}

TEST(OfferCache, TheOwnOfferStaysAndTakesNoPlace) {
  Fixture fixture;
  fixture.insert(offer_of(0, 1, kDawn));
  for (std::uint32_t i = 1; i <= 1'000; ++i) fixture.insert(offer_of(i, 1, kDawn));
  EXPECT_NE(fixture.cache.find(node_id(0)), nullptr);
  EXPECT_EQ(fixture.cache.offers().size(), 301u);
}

TEST(OfferCache, SamplesGivePlacesToRareClassesAndRepeatNothing) {
  Fixture fixture;
  fixture.insert(offer_of(0, 1, kDawn));
  for (std::uint32_t i = 1; i <= 300; ++i) {
    fixture.insert(offer_of(i, 1, kDawn, "here", i <= 2 ? with_device("fpga", "a") : with_device("gpu", "usual")));
  }
  int with_fpga = 0;
  for (int round = 0; round < 100; ++round) {
    const std::vector<OfferRef> sample = fixture.cache.sample(9, 3, 6, node_id(7));
    EXPECT_EQ(sample.size(), 9u);
    std::set<NodeId> nodes;
    bool fpga = false;
    for (const OfferRef& offer : sample) {
      nodes.insert(offer->offer.contact.node);
      fpga |= offer->offer.capacity.devices.front().kind == "fpga";
    }
    EXPECT_EQ(nodes.size(), 9u);
    EXPECT_FALSE(nodes.contains(node_id(0)));
    EXPECT_FALSE(nodes.contains(node_id(7)));
    with_fpga += fpga ? 1 : 0;
  }
  EXPECT_EQ(with_fpga, 100) << "the only rare class is in every sample";
}

TEST(OfferCache, SamplesOfASmallCacheHoldAllOfIt) {
  Fixture fixture;
  for (std::uint32_t i = 1; i <= 5; ++i) fixture.insert(offer_of(i, 1, kDawn));
  EXPECT_EQ(fixture.cache.sample(9, 3, 6, node_id(3)).size(), 4u);
  EXPECT_TRUE(Fixture().cache.sample(9, 3, 6, node_id(3)).empty());
}

TEST(OfferCache, RandomContactsAreWhereTheyShouldBe) {
  Fixture fixture;
  EXPECT_FALSE(fixture.cache.random_contact(Where::anywhere));
  Offer unreachable = offer_of(9, 1, kDawn);
  unreachable.contact.endpoint = {};
  fixture.insert(unreachable);
  EXPECT_FALSE(fixture.cache.random_contact(Where::anywhere));
  fixture.insert(offer_of(1, 1, kDawn, "here"));
  fixture.insert(offer_of(2, 1, kDawn, "there"));
  EXPECT_EQ(fixture.cache.random_contact(Where::own_region)->node, node_id(1));
  EXPECT_EQ(fixture.cache.random_contact(Where::elsewhere)->node, node_id(2));
}

TEST(OfferCache, ClassesAreNamedOnceAndOnlyIfThereAreAny) {
  Capacity capacity;
  capacity.devices = {
      {"gpu", "b", 1, 0, false}, {"gpu", "a", 2, 0, false}, {"gpu", "b", 3, 1, true}, {"fpga", "", 0, 0, false}};
  EXPECT_EQ(device_classes(capacity), (std::vector<std::string>{"gpu:a", "gpu:b"}));
}

}  // namespace
}  // namespace abacus
