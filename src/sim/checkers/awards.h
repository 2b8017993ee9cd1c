// Invariant: at most one live award per attempt. An attempt belongs to one lease.
#pragma once

#include <map>

#include "sim/observer.h"

namespace abacus::sim {

/// An attempt may be awarded elsewhere under the same number only after its award was refused, or after its buyer
/// crashed and may have forgotten the award.
class AwardsChecker final : public Checker {
 public:
  std::string name() const override { return "at most one live award per attempt"; }
  void on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) override;
  void on_event(const Simulation& simulation, NodeIndex node, const Event& event) override;
  void on_crash(const Simulation& simulation, NodeIndex node, bool power_loss) override;

 private:
  using Buyer = NodeIndex;
  void assign(const Simulation& simulation, Buyer buyer, const LeaseId& lease, const std::vector<AttemptId>& attempts);
  void launched(const Simulation& simulation, const Launch& launch);

  std::map<AttemptId, LeaseId> live_;
  std::map<LeaseId, Buyer> buyers_;
  std::map<AttemptId, std::pair<LeaseId, Buyer>> launched_;  ///< Sees leases with the own node too.
};

}  // namespace abacus::sim
