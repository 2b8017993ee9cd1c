// Asks each custodian at the end, and lets it say why its tasks wait.
#include "sim/checkers/liveness.h"

#include <fmt/format.h>

#include "sim/simulation.h"

namespace abacus::sim {

void LivenessChecker::at_end(const Simulation& simulation) {
  for (const AcceptedJob& job : simulation.accepted()) {
    if (simulation.has_ended(job)) continue;
    const Node* custodian = simulation.node(job.custodian);
    if (custodian == nullptr) {
      violated(simulation, fmt::format("node {} is down", job.custodian));
      continue;
    }
    auto view = custodian->buying().job(job.submitted.job, simulation.now_at(job.custodian));
    if (!view) continue;  // Lost, which is another checker's.
    violated(simulation,
             fmt::format("job {} of node {} has not ended: {} tasks wait, {} are placed; {}",
                         job.submitted.job.to_string(), job.custodian, view->waiting, view->placed, view->waiting_for));
  }
}

}  // namespace abacus::sim
