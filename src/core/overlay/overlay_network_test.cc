// Many overlays in one network: they find each other, stay connected, learn of rare things, and notice who is gone.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/overlay/overlay_fixture.h"

namespace abacus {
namespace {

using namespace overlay_test;

/// `count` nodes, one every 50 ms, each joining through one of the first three that run already.
void grow(Network& network, std::uint32_t count, const std::vector<std::string>& regions = {"here"}) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::optional<std::uint32_t> sponsor =
        network.size() == 0 ? std::nullopt : std::optional(i % std::min<std::uint32_t>(3, network.size()));
    network.add(sponsor, regions[i % regions.size()]);
    network.run_for(milliseconds(50));
  }
}

std::size_t suspicions(const Network& network) {
  return static_cast<std::size_t>(
      std::count_if(network.notices.begin(), network.notices.end(), [](const auto& n) { return n.second.suspect; }));
}

TEST(OverlayNetwork, JoiningOneByOneGivesAConnectedGraphOfBoundedViews) {
  Network network(1);
  grow(network, 300);
  network.run_for(seconds(20));
  EXPECT_TRUE(network.connected());
  std::size_t short_of_target = 0;
  for (std::uint32_t i = 0; i < network.size(); ++i) {
    EXPECT_LE(network.node(i).neighbours().size(), ViewsConfig{}.active_max);
    EXPECT_LE(network.node(i).passive_contacts().size(), ViewsConfig{}.passive_max);
    EXPECT_LE(network.node(i).offers(network.now().wall).size(), OfferCacheConfig{}.capacity + 1);
    if (network.node(i).neighbours().size() < ViewsConfig{}.active_target) ++short_of_target;
  }
  EXPECT_LE(short_of_target, 3u);
  EXPECT_LE(network.one_sided_links(), 3u);
  EXPECT_EQ(suspicions(network), 0u);
}

TEST(OverlayNetwork, SurvivorsReconnectWhenAThirdVanishesSilently) {
  Network network(2);
  grow(network, 300);
  network.run_for(seconds(20));
  for (std::uint32_t i = 0; i < network.size(); ++i) {
    if (i % 10 < 3) network.kill(i, true);
  }
  network.run_for(seconds(60));
  EXPECT_TRUE(network.connected());
  for (std::uint32_t i = 0; i < network.size(); ++i) {
    if (!network.alive(i)) continue;
    EXPECT_GE(network.node(i).neighbours().size(), 4u);
    for (const Contact& neighbour : network.node(i).neighbours()) {
      const bool dead = std::any_of(network.notices.begin(), network.notices.end(), [&](const auto& n) {
        return n.first == i && n.second.suspect && n.second.peer.node == neighbour.node;
      });
      EXPECT_FALSE(dead) << "node " << i << " keeps a neighbour it found silent";
    }
  }
  for (const auto& [who, notice] : network.notices) {
    bool vanished = false;
    for (std::uint32_t i = 0; i < network.size(); ++i) vanished |= !network.alive(i) && node_id(i) == notice.peer.node;
    EXPECT_TRUE(vanished) << "a living node was suspected by " << who;
  }
}

TEST(OverlayNetwork, RareDevicesOfAThousandNodesAreKnownToNearlyAll) {
  Network network(3);
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    Capacity capacity = with_device("gpu", "common" + std::to_string(i % 4));
    if (i == 500) capacity = with_device("fpga", "single");
    if (i % 400 == 7) capacity = with_device("fpga", "triple");
    network.add(i == 0 ? std::nullopt : std::optional<std::uint32_t>(i % std::min(i, 5u)),
                "region" + std::to_string(i % 5), capacity);
    network.run_for(milliseconds(5));
  }
  network.run_for(seconds(40));
  EXPECT_GE(network.knowing_permille("fpga:triple"), 950u);
  network.run_for(seconds(20));
  EXPECT_GE(network.knowing_permille("fpga:single"), 950u);

  const std::uint32_t newcomer = network.add(4, "region0");
  network.run_for(seconds(1));
  std::set<std::string> classes;
  for (const OfferRef& offer : network.node(newcomer).offers(network.now().wall)) {
    for (const std::string& name : device_classes(offer->offer.capacity)) classes.insert(name);
  }
  EXPECT_TRUE(classes.contains("fpga:triple")) << "a newcomer has its sponsor's knowledge at once";
  EXPECT_TRUE(network.connected());
}

TEST(OverlayNetwork, APartitionHeals) {
  Network network(4);
  grow(network, 100, {"east", "west"});
  network.run_for(seconds(20));
  for (std::uint32_t i = 0; i < network.size(); ++i) network.set_group(i, static_cast<int>(i % 2));
  network.run_for(minutes(2));
  EXPECT_FALSE(network.connected());
  for (std::uint32_t i = 0; i < network.size(); ++i) network.set_group(i, 0);
  network.notices.clear();
  network.run_for(minutes(2));
  EXPECT_TRUE(network.connected());
  EXPECT_EQ(suspicions(network), 0u);
  EXPECT_GT(network.notices.size(), 0u) << "those beyond were suspect and came back";
  for (std::uint32_t i = 0; i < network.size(); ++i) {
    std::size_t beyond = 0;
    for (const OfferRef& offer : network.node(i).offers(network.now().wall)) {
      beyond += offer->offer.region != (i % 2 == 0 ? "east" : "west") ? 1 : 0;
    }
    EXPECT_GE(beyond, 40u);
  }
}

TEST(OverlayNetwork, HalvesThatForgotEachOtherMeetAgain) {
  Network network(5);
  grow(network, 40, {"east", "west"});
  network.run_for(seconds(20));
  for (std::uint32_t i = 0; i < network.size(); ++i) network.set_group(i, static_cast<int>(i % 2));
  network.run_for(minutes(20));  // Longer than offers live and suspects linger.
  for (std::uint32_t i = 0; i < network.size(); ++i) network.set_group(i, 0);
  network.run_for(minutes(10));
  EXPECT_TRUE(network.connected());
}

TEST(OverlayNetwork, AKilledNodeBecomesSuspectAndComesBack) {
  Network network(6);
  grow(network, 30);
  network.run_for(seconds(20));
  const std::vector<Contact> former = network.node(7).neighbours();
  ASSERT_GE(former.size(), 6u);
  network.watch(20, {contact(7)});
  network.kill(7, false);
  network.run_for(seconds(10));
  EXPECT_TRUE(network.node(20).is_suspect(node_id(7))) << "its counterparty must know";
  EXPECT_GE(suspicions(network), former.size());
  network.notices.clear();
  network.restart(7, 1);
  network.run_for(seconds(20));
  EXPECT_FALSE(network.node(20).is_suspect(node_id(7)));
  EXPECT_EQ(suspicions(network), 0u);
  EXPECT_GE(network.notices.size(), 1u);
  EXPECT_TRUE(network.connected());
}

TEST(OverlayNetwork, ASilentHostIsSuspectWithinTwentySeconds) {
  Network network(7);
  grow(network, 30, {"east", "west"});
  network.run_for(seconds(20));
  network.watch(20, {contact(7)});
  network.kill(7, true);
  network.run_for(seconds(20));
  EXPECT_TRUE(network.node(20).is_suspect(node_id(7)));
}

TEST(OverlayNetwork, AQuietNetworkIsQuiet) {
  Network network(8);
  grow(network, 100);
  network.run_for(minutes(10));
  network.messages = network.offers_sent = network.keep_connections = 0;
  network.run_for(minutes(2));
  EXPECT_EQ(network.notices.size(), 0u);
  EXPECT_LE(network.keep_connections, 150u) << "views have settled, and mix every ten minutes";
  const std::uint64_t node_seconds = 100 * 120;
  EXPECT_LE(network.messages, 4 * node_seconds) << "a ping, half a shuffle, and the answers to as many";
  EXPECT_LE(network.offers_sent, 12 * node_seconds) << "about 2 kB a second";
}

TEST(OverlayNetwork, LossAloneMakesNobodySuspect) {
  Network network(9);
  network.set_loss_permille(50);
  grow(network, 60);
  network.run_for(minutes(2));
  EXPECT_EQ(suspicions(network), 0u);
  EXPECT_TRUE(network.connected());
}

TEST(OverlayNetwork, AnIsolatedNodeWaitsForItsSeed) {
  Network network(10);
  network.add(std::nullopt);
  network.kill(0, false);
  network.add(0);
  network.run_for(minutes(3));
  EXPECT_TRUE(network.node(1).neighbours().empty());
  network.restart(0, std::nullopt);
  network.run_for(seconds(40));
  ASSERT_EQ(network.node(1).neighbours().size(), 1u);
  EXPECT_EQ(network.node(0).neighbours().size(), 1u);
  EXPECT_EQ(network.node(1).offers(network.now().wall).size(), 2u);
}

TEST(OverlayNetwork, WhoSaysGoodbyeIsForgottenAtOnce) {
  Network network(11);
  grow(network, 10);
  network.run_for(seconds(20));
  const std::vector<Contact> neighbours = network.node(4).neighbours();
  network.leave(4);
  network.run_for(milliseconds(100));
  network.kill(4, false);
  network.run_for(seconds(10));
  for (std::uint32_t i = 0; i < network.size(); ++i) {
    const bool told =
        std::any_of(neighbours.begin(), neighbours.end(), [&](const Contact& n) { return n.node == node_id(i); });
    EXPECT_TRUE(!told || network.node(i).find(node_id(4)) == nullptr) << i;
  }
}

TEST(OverlayNetwork, TheSameSeedGivesTheSameRun) {
  auto run = [] {
    Network network(12);
    grow(network, 40);
    network.run_for(seconds(30));
    return std::pair(network.messages, network.offers_sent);
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace abacus
