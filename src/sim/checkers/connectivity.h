// Invariant: the overlay is connected whenever the network is.
#pragma once

#include "sim/observer.h"

namespace abacus::sim {

/// Every few seconds, once no fault began or ended for a while: the neighbours of all agents that are up make one
/// connected graph. While messages are cut or lost for good, nothing is asked.
class ConnectivityChecker final : public Checker {
 public:
  std::string name() const override { return "the overlay is connected whenever the network is"; }
  void on_second(const Simulation& simulation) override;

 private:
  void check(const Simulation& simulation);
};

}  // namespace abacus::sim
