// Invariants: no accepted task is lost, and a task's end is reported once.
#pragma once

#include <map>

#include "sim/observer.h"

namespace abacus::sim {

/// Every acknowledged job is with its custodian, with all its tasks, when the simulation is over.
class NoTaskLostChecker final : public Checker {
 public:
  std::string name() const override { return "no accepted task lost"; }
  void at_end(const Simulation& simulation) override;
};

/// A user learns of a task's end at most once, and no end is ever replaced by another.
class EndOnceChecker final : public Checker {
 public:
  std::string name() const override { return "a task's end is reported once"; }
  void on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) override;

 private:
  std::map<TaskId, TaskEnd> ends_;
};

}  // namespace abacus::sim
