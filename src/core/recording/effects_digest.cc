// Multiply and rotate, eight bytes at a time.
#include "core/recording/effects_digest.h"

#include <algorithm>
#include <array>
#include <bit>

#include "protocol/codec.h"

namespace abacus {
namespace {

std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15;
  return std::rotl(state, 29) ^ (state >> 32);
}

/// The first eight bytes, little-endian.
std::uint64_t word_of(BytesView bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

std::uint64_t digest_of(std::uint64_t state, BytesView bytes) {
  state = mixed(state, bytes.size());
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) state = mixed(state, word_of(bytes));
  std::array<std::uint8_t, 8> rest{};
  std::copy(bytes.begin(), bytes.end(), rest.begin());
  return bytes.empty() ? state : mixed(state, word_of(rest));
}

}  // namespace

void EffectsDigest::add(const Effects& effects) {
  scratch_.clear();
  CborWriter writer(scratch_);
  codec::write(writer, effects.changes);
  codec::write(writer, effects.now);
  codec::write(writer, effects.held);
  state_ = digest_of(state_, scratch_);
}

}  // namespace abacus
