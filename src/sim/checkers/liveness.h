// Invariant: after faults stop, everything placeable is placed and ends within a bound.
#pragma once

#include "sim/observer.h"

namespace abacus::sim {

/// The bound is the plan's `settle_within`.
class LivenessChecker final : public Checker {
 public:
  std::string name() const override { return "after faults stop, all work ends within a bound"; }
  void at_end(const Simulation& simulation) override;
};

}  // namespace abacus::sim
