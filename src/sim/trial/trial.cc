// Runs the simulation and gathers what checkers and nodes have to say.
#include "sim/trial/trial.h"

#include "sim/checkers/all.h"

namespace abacus::sim {

TrialResult run_trial(const Plan& plan, const Sabotages& sabotage, Checker* onlooker) {
  AllCheckers checkers;
  Simulation simulation(plan, sabotage);
  checkers.watch(simulation);
  PaceMeter pace;
  simulation.watch(pace);
  if (onlooker != nullptr) simulation.watch(*onlooker);
  simulation.run();
  TrialResult result;
  result.violations = simulation.violations();
  result.state_hash = simulation.state_hash();
  result.events = simulation.events_handled();
  result.agenda_peak = simulation.agenda_peak();
  result.messages = simulation.messages_sent();
  result.overlay_messages = checkers.costs.overlay_messages();
  result.jobs_accepted = simulation.accepted().size();
  result.settled = simulation.all_ended();
  result.virtual_time = simulation.now().mono - MonoTime{};
  result.misfortunes = simulation.misfortunes();
  result.pace = pace.take();
  for (NodeIndex i = 0; i < simulation.size(); ++i) {
    const Node* node = simulation.node(i);
    if (node == nullptr) continue;
    Counters counters = node->counters();
    result.placements += counters.placements;
    result.placed_again += counters.tasks_lost;
    result.awards += counters.awards_sent;
    result.awards_refused += counters.awards_refused;
    result.tasks_ended += counters.tasks_succeeded + counters.tasks_failed;
  }
  return result;
}

}  // namespace abacus::sim
