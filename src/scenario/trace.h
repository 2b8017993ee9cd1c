// Writes what happens in a simulation, one JSON object a line.
#pragma once

#include <ostream>

#include "sim/observer.h"

namespace abacus {

/// A line for each message sent and received, each process started and ended, each end of a task and each crash, with
/// the virtual time in microseconds and the node. `out` outlives it.
class TraceWriter final : public sim::Checker {
 public:
  explicit TraceWriter(std::ostream& out) : out_(out) {}

  std::string name() const override { return "trace"; }
  void on_effect(const sim::Simulation& simulation, sim::NodeIndex node, const Effect& effect) override;
  void on_event(const sim::Simulation& simulation, sim::NodeIndex node, const Event& event) override;
  void on_crash(const sim::Simulation& simulation, sim::NodeIndex node, bool power_loss) override;
  void on_rollback(const sim::Simulation& simulation, sim::NodeIndex node) override;

 private:
  std::ostream& out_;
};

}  // namespace abacus
