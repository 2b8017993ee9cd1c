// Makes a plan that fails smaller while it fails.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/plan.h"

namespace abacus::sim {

/// True if the plan still shows what it is to show.
using Fails = std::function<bool(const Plan&)>;

struct Shrunk {
  Plan plan;
  std::uint32_t tries = 0;
};

/// Leaves out faults, rare paths, jobs, tasks and nodes, in halves and then one by one, as long as `fails` holds of
/// what is left (after delta debugging, Zeller and Hildebrandt 2002); asks at most `tries_max` times. The seed stays.
/// Requires fails(plan).
Shrunk shrink(Plan plan, const Fails& fails, std::uint32_t tries_max = 200);

}  // namespace abacus::sim
