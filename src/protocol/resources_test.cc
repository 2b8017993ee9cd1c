// Arithmetic between bundles and capacities: what fits, what is taken, devices of overlapping needs.
#include "protocol/resources.h"

#include <gtest/gtest.h>

namespace abacus {
namespace {

Capacity node() {
  return {8'000, 16ull << 30, 100ull << 30, {{"gpu", "a100", 2, 0, false}, {"gpu", "h100", 3, 0, false}}};
}

TEST(Resources, TheScarcestDimensionDecides) {
  EXPECT_EQ(slots_that_fit(node(), {1'000, 0, 0, {}}), 8u);
  EXPECT_EQ(slots_that_fit(node(), {1'000, 8ull << 30, 0, {}}), 2u);
  EXPECT_EQ(slots_that_fit(node(), {1'000, 0, 0, {{"gpu", "", 1}}}), 5u);
  EXPECT_EQ(slots_that_fit(node(), {1'000, 0, 0, {{"fpga", "", 1}}}), 0u);
}

TEST(Resources, OverlappingNeedsAreNotServedTwice) {
  Bundle pair{1'000, 0, 0, {{"gpu", "", 1}, {"gpu", "a100", 1}}};
  EXPECT_EQ(slots_that_fit(node(), pair), 2u);
  Bundle three{1'000, 0, 0, {{"gpu", "", 2}, {"gpu", "", 1}}};
  EXPECT_EQ(slots_that_fit(node(), three), 1u);
  Bundle same{1'000, 0, 0, {{"gpu", "h100", 2}, {"gpu", "h100", 2}}};
  EXPECT_EQ(slots_that_fit(node(), same), 0u);
}

TEST(Resources, TakingLeavesNamedModelsToThoseWhoNeedThem) {
  Capacity free = node();
  take(free, {1'000, 0, 0, {{"gpu", "", 1}, {"gpu", "a100", 1}}}, 2);
  EXPECT_EQ(free.cpu_milli, 6'000u);
  EXPECT_EQ(free.devices[0].count + free.devices[1].count, 1u);
  EXPECT_EQ(slots_that_fit(free, {1'000, 0, 0, {{"gpu", "", 1}, {"gpu", "a100", 1}}}), 0u);
}

TEST(Resources, ShortfallsNameEachDimension) {
  std::vector<Shortfall> missing = shortfalls(node(), {16'000, 0, 0, {{"gpu", "a100", 4}}});
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0], (Shortfall{"cpu_milli", 16'000, 8'000}));
  EXPECT_EQ(missing[1], (Shortfall{"gpu:a100", 4, 2}));
}

}  // namespace
}  // namespace abacus
