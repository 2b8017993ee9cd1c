// Every checker at once.
#pragma once

#include "sim/checkers/awards.h"
#include "sim/checkers/slots.h"
#include "sim/checkers/tasks.h"
#include "sim/simulation.h"

namespace abacus::sim {

/// Must outlive the simulation that it watches.
struct AllCheckers {
  SlotsChecker slots;
  NoTaskLostChecker no_task_lost;
  EndOnceChecker end_once;
  AwardsChecker awards;

  void watch(Simulation& simulation) {
    simulation.watch(slots);
    simulation.watch(no_task_lost);
    simulation.watch(end_once);
    simulation.watch(awards);
  }
};

}  // namespace abacus::sim
