// How long a buyer leaves somebody alone: 100 ms x 2^n with full jitter, at most 60 s, halved by success.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/prng.h"
#include "base/time.h"
#include "core/buying/buying_config.h"

namespace abacus {

struct CoolDown {
  std::uint32_t level = 0;
  MonoTime until;

  bool over(Now now) const { return now.mono >= until; }

  /// One more failure. `at_least`: the level from which on, for what will not change soon.
  void fail(const BuyingConfig& config, Prng& prng, Now now, std::uint32_t at_least = 0) {
    constexpr std::uint32_t kLevels = 20;
    level = std::min(std::max(level, at_least), kLevels);
    Duration most = std::min(config.cool_down_base * (std::int64_t{1} << level), config.cool_down_max);
    until = now.mono + Duration{prng.between(1, std::max<std::int64_t>(most.ns, 1))};
    level = std::min(level + 1, kLevels);
  }

  void succeed() {
    level /= 2;
    until = {};
  }
};

}  // namespace abacus
