// xoshiro256** and unbiased draws from it.
#include "base/prng.h"

#include "base/int128.h"

namespace abacus {
namespace {

std::uint64_t splitmix64(std::uint64_t& x) {
  std::uint64_t z = (x += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t rotate_left(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

Prng::Prng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

std::uint64_t Prng::next() {
  std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
  std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

std::uint64_t Prng::below(std::uint64_t bound) {
  CHECK(bound > 0);
  Uint128 product = static_cast<Uint128>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Uint128>(next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Prng::between(std::int64_t low, std::int64_t high) {
  CHECK(low <= high);
  std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  std::uint64_t offset = width == 0 ? next() : below(width);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

}  // namespace abacus
