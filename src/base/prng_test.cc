// The generator: pinned numbers, ranges, and a bound on how uneven its draws may be.
#include "base/prng.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace abacus {
namespace {

/// Chi-squared against equal counts. Draws are seeded, so the bound either always holds or never.
double chi_squared(const std::vector<int>& counts, int draws) {
  double expected = static_cast<double>(draws) / static_cast<double>(counts.size()), sum = 0;
  for (int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Prng, NumbersArePinned) {
  // A change here changes every recorded simulation.
  Prng zero(0);
  EXPECT_EQ(zero.next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(zero.next(), 0xbf6e1f784956452au);
  EXPECT_EQ(zero.next(), 0x1a5f849d4933e6e0u);
}

RC_GTEST_PROP(Prng, SameSeedSameNumbers, (std::uint64_t seed)) {
  Prng a(seed), b(seed);
  for (int i = 0; i < 50; ++i) RC_ASSERT(a.next() == b.next());
}

TEST(Prng, NeighbouringSeedsShareNothing) {
  Prng a(1), b(2);
  int equal_bits = 0;
  for (int i = 0; i < 1'000; ++i) equal_bits += std::popcount(~(a.next() ^ b.next()));
  EXPECT_NEAR(equal_bits, 32'000, 1'000);  // 8 standard deviations
}

RC_GTEST_PROP(Prng, DrawsStayInRange, (std::uint64_t seed, std::uint64_t bound, std::int64_t a, std::int64_t b)) {
  RC_PRE(bound > 0u);
  Prng prng(seed);
  std::int64_t low = std::min(a, b), high = std::max(a, b);
  for (int i = 0; i < 20; ++i) {
    RC_ASSERT(prng.below(bound) < bound);
    std::int64_t drawn = prng.between(low, high);
    RC_ASSERT(drawn >= low);
    RC_ASSERT(drawn <= high);
  }
}

TEST(Prng, BetweenReachesBothEnds) {
  Prng prng(7);
  std::map<std::int64_t, int> seen;
  for (int i = 0; i < 200; ++i) ++seen[prng.between(-1, 2)];
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(prng.between(5, 5), 5);
  bool negative = false, positive = false;
  for (int i = 0; i < 64; ++i) {
    std::int64_t drawn =
        prng.between(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    (drawn < 0 ? negative : positive) = true;
  }
  EXPECT_TRUE(negative && positive);
}

TEST(PrngDeathTest, EmptyRangesStop) {
  Prng prng(1);
  EXPECT_DEATH(prng.below(0), "CHECK failed");
  EXPECT_DEATH(prng.between(2, 1), "CHECK failed");
}

TEST(Prng, BelowIsUniform) {
  for (std::uint64_t bound : {2u, 3u, 10u, 1'000u}) {
    Prng prng(42);
    std::vector<int> counts(bound);
    constexpr int kDraws = 100'000;
    for (int i = 0; i < kDraws; ++i) ++counts[prng.below(bound)];
    double freedom = static_cast<double>(bound) - 1;
    EXPECT_LT(chi_squared(counts, kDraws), freedom + 5 * std::sqrt(2 * freedom)) << bound;
  }
}

TEST(Prng, BelowIsUnbiasedWhereTheBoundHardlyFits) {
  // Taking the product's upper half without rejection would draw every third number twice as often.
  Prng prng(42);
  constexpr std::uint64_t kBound = 3ull << 62;
  std::vector<int> counts(3);
  constexpr int kDraws = 30'000;
  for (int i = 0; i < kDraws; ++i) ++counts[prng.below(kBound) % 3];
  EXPECT_LT(chi_squared(counts, kDraws), 2 + 5 * std::sqrt(4.0));
}

TEST(Prng, ChanceIsItsFraction) {
  Prng prng(3);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += prng.chance(1, 4) ? 1 : 0;
  EXPECT_NEAR(hits, 25'000, 5 * 137);  // 5 standard deviations
  EXPECT_FALSE(prng.chance(0, 4));
  EXPECT_TRUE(prng.chance(4, 4));
}

RC_GTEST_PROP(Prng, ShuffleKeepsEveryItem, (std::uint64_t seed, std::vector<int> items)) {
  std::vector<int> shuffled = items;
  Prng(seed).shuffle(shuffled);
  std::sort(items.begin(), items.end());
  std::sort(shuffled.begin(), shuffled.end());
  RC_ASSERT(items == shuffled);
}

TEST(Prng, ShuffleReachesEveryOrderEvenly) {
  Prng prng(11);
  std::map<std::vector<int>, int> seen;
  constexpr int kDraws = 24'000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    prng.shuffle(items);
    ++seen[items];
  }
  std::vector<int> counts;
  counts.reserve(seen.size());
  for (const auto& [order, count] : seen) counts.push_back(count);
  ASSERT_EQ(counts.size(), 24u);
  EXPECT_LT(chi_squared(counts, kDraws), 23 + 5 * std::sqrt(46.0));
}

TEST(Prng, FillSetsEveryByte) {
  Prng prng(5);
  std::array<int, 32> changed{};
  for (int round = 0; round < 20; ++round) {
    std::array<std::uint8_t, 32> bytes{};
    prng.fill(bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) changed[i] += bytes[i] != 0 ? 1 : 0;
  }
  EXPECT_TRUE(std::all_of(changed.begin(), changed.end(), [](int n) { return n > 15; }));
}

}  // namespace
}  // namespace abacus
