// A running digest over what a node returned: equal digests, equal decisions.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "core/model/effects.h"

namespace abacus {

/// 64 bits over the encodings of all effects so far: journal changes, effects that left at once, effects held, in that
/// order for each event. Guards against accidents, not against forgers.
class EffectsDigest {
 public:
  void add(const Effects& effects);
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x9ae16a3b2f90404f;
  Bytes scratch_;  ///< Kept between calls for its memory.
};

}  // namespace abacus
