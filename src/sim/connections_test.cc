// A connection lasts while it is used, while both lives last, and while there is room.
#include "sim/connections.h"

#include <gtest/gtest.h>

namespace abacus::sim {
namespace {

constexpr MonoTime kStart{};

TEST(Connections, LastAsLongAsTheyAreUsed) {
  Connections connections;
  EXPECT_FALSE(connections.holds(1, 1, kStart));
  connections.use(1, 1, kStart);
  MonoTime later = kStart + Connections::kIdle;
  EXPECT_TRUE(connections.holds(1, 1, later));
  EXPECT_FALSE(connections.holds(1, 1, later + nanoseconds(1)));
  connections.use(1, 1, later);
  EXPECT_TRUE(connections.holds(1, 1, later + Connections::kIdle));
}

TEST(Connections, EndWithThePeersLife) {
  Connections connections;
  connections.use(1, 1, kStart);
  EXPECT_FALSE(connections.holds(1, 2, kStart));
  connections.use(1, 2, kStart);
  EXPECT_TRUE(connections.holds(1, 2, kStart));
  EXPECT_FALSE(connections.holds(1, 1, kStart));
}

TEST(Connections, TheLeastRecentlyUsedMakesRoom) {
  Connections connections;
  for (NodeIndex i = 0; i < Connections::kMax; ++i) {
    EXPECT_FALSE(connections.use(i, 1, kStart + milliseconds(i)).has_value());
  }
  connections.use(0, 1, kStart + seconds(1));
  EXPECT_EQ(connections.use(1'000, 1, kStart + seconds(1)), 1u);
  EXPECT_TRUE(connections.holds(0, 1, kStart + seconds(1)));
  EXPECT_FALSE(connections.holds(1, 1, kStart + seconds(1)));
}

}  // namespace
}  // namespace abacus::sim
