// Invariant: at most one live award per attempt. An attempt belongs to one lease.
#pragma once

#include <map>
#include <set>

#include "sim/observer.h"

namespace abacus::sim {

/// An attempt may be awarded elsewhere under the same number only after its award was refused, or after its buyer
/// crashed or went back to what is durable before the (soft) award or start was: it then knows nothing of it, and takes
/// the first end that comes.
class AwardsChecker final : public Checker {
 public:
  std::string name() const override { return "at most one live award per attempt"; }
  void on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) override;
  void on_event(const Simulation& simulation, NodeIndex node, const Event& event) override;
  void on_crash(const Simulation& simulation, NodeIndex node, bool) override { forget_awards_of(simulation, node); }
  void on_rollback(const Simulation& simulation, NodeIndex node) override { forget_awards_of(simulation, node); }

 private:
  using Buyer = NodeIndex;
  void assign(const Simulation& simulation, Buyer buyer, const LeaseId& lease, const std::vector<AttemptId>& attempts);
  void forget_awards_of(const Simulation& simulation, Buyer buyer);
  void forget(const Simulation& simulation, Buyer buyer, std::map<AttemptId, LeaseId>& among);
  void launched(const Simulation& simulation, const Launch& launch);

  std::map<AttemptId, LeaseId> live_;
  std::map<LeaseId, Buyer> buyers_;
  std::map<AttemptId, LeaseId> launched_;              ///< Sees leases with the own node too.
  std::set<std::pair<AttemptId, LeaseId>> forgotten_;  ///< By their buyers, though the message may be under way.
};

}  // namespace abacus::sim
