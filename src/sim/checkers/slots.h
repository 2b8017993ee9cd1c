// Invariant: no slot is leased twice at once. What runs at a seller fits its capacity, and a lease's slots bound what
// runs in it.
#pragma once

#include <map>

#include "sim/observer.h"

namespace abacus::sim {

/// Looks at processes, not at what the node believes: a seller that forgot a lease while its work runs is caught too.
class SlotsChecker final : public Checker {
 public:
  std::string name() const override { return "no slot leased twice at once"; }
  void on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) override;

 private:
  void check_launch(const Simulation& simulation, NodeIndex node, const Launch& launch);

  std::map<std::pair<NodeIndex, LeaseId>, std::uint32_t> slots_;
};

}  // namespace abacus::sim
