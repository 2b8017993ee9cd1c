// Every checker at once.
#pragma once

#include <initializer_list>

#include "sim/checkers/awards.h"
#include "sim/checkers/connectivity.h"
#include "sim/checkers/costs.h"
#include "sim/checkers/liveness.h"
#include "sim/checkers/money.h"
#include "sim/checkers/rest.h"
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
  MoneyChecker money;
  RestChecker rest;
  LivenessChecker liveness;
  ConnectivityChecker connectivity;
  CostChecker costs;

  void watch(Simulation& simulation) {
    for (Checker* checker : std::initializer_list<Checker*>{&slots, &no_task_lost, &end_once, &awards, &money, &rest,
                                                            &liveness, &connectivity, &costs}) {
      simulation.watch(*checker);
    }
  }
};

}  // namespace abacus::sim
