// Seeded randomness: xoshiro256** (Blackman and Vigna 2018), seeded through splitmix64. The same seed gives the same
// numbers on every machine. Not for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace abacus {

class Prng {
 public:
  explicit Prng(std::uint64_t seed);

  /// 64 uniform bits.
  std::uint64_t next();

  /// Uniform in [0, bound). Requires bound > 0. Unbiased (Lemire 2019).
  std::uint64_t below(std::uint64_t bound);

  /// Uniform in [low, high], both included. Requires low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);

  /// True with probability numerator / denominator.
  bool chance(std::uint64_t numerator, std::uint64_t denominator) { return below(denominator) < numerator; }

  /// Fills an id or any byte array.
  template <std::size_t N>
  void fill(std::array<std::uint8_t, N>& bytes) {
    for (std::size_t i = 0; i < N; ++i) bytes[i] = static_cast<std::uint8_t>(next() >> 56);
  }

  /// Fisher-Yates shuffle in place.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace abacus
