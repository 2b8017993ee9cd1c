// A market, its work and its misfortunes, all drawn from one seed.
#pragma once

#include <cstdint>

#include "sim/plan.h"

namespace abacus::sim {

inline constexpr Duration kWorkingTimeMin = seconds(2);

struct RandomPlanOptions {
  std::uint32_t nodes = 50;
  std::uint32_t regions = 3;
  std::uint32_t jobs = 40;
  Duration working_time = seconds(60);  ///< kWorkingTimeMin at least; jobs and misfortunes come within it.
  Duration settle_within = minutes(60);
  bool faults = true;
};

/// Nodes of 1 to 16 CPUs (a few with GPUs) in some regions, their clocks up to two seconds apart; jobs of 1 to 60
/// tasks, some with outputs, some at most once, some cancelled. Faults: every kind there is, singly and in storms, and
/// every rare path of a machine. Calm shortly after `working_time`.
Plan random_plan(std::uint64_t seed, const RandomPlanOptions& options);

}  // namespace abacus::sim
