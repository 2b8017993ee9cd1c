// Invariant: every hold, lease and timer ends. Once all work has ended, nothing of it is left anywhere.
#pragma once

#include "sim/observer.h"

namespace abacus::sim {

/// Looks at nodes, disks and processes, some minutes after the last end: no lease is open or unsettled, no process
/// runs, no slot is held, no row of the journal tells of a lease or an attempt, and no buyer is about to wake for one.
class RestChecker final : public Checker {
 public:
  std::string name() const override { return "every hold, lease and timer ends"; }
  void at_end(const Simulation& simulation) override;

 private:
  void check_node(const Simulation& simulation, NodeIndex index);
};

}  // namespace abacus::sim
