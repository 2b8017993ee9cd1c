// Adds up what runs at a seller at each launch, from its processes.
#include "sim/checkers/slots.h"

#include <fmt/format.h>

#include "sim/simulation.h"

namespace abacus::sim {

void SlotsChecker::on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) {
  if (const auto* open = std::get_if<OpenLease>(&effect)) slots_[{node, open->lease}] = open->slots;
  if (const auto* launch = std::get_if<Launch>(&effect)) check_launch(simulation, node, *launch);
}

void SlotsChecker::check_launch(const Simulation& simulation, NodeIndex node, const Launch& launch) {
  Capacity free = simulation.plan().nodes[node].capacity;
  std::uint32_t in_lease = 1;
  bool known = false;
  auto occupy = [&](const Launch& running) {
    if (slots_that_fit(free, running.bundle) == 0) {
      violated(simulation,
               fmt::format("node {} runs more than it has: no room for {}", node, running.attempt.to_string()));
    } else {
      take(free, running.bundle, 1);
    }
  };
  for (const auto& [lease, sold] : simulation.processes(node).leases()) {
    for (const auto& [attempt, process] : sold.attempts) {
      if (lease == launch.lease && attempt == launch.attempt) known = true;
      if (process.end) continue;
      occupy(process.launch);
      if (lease == launch.lease) ++in_lease;
    }
  }
  if (known) return;  // A repeat, which starts nothing.
  occupy(launch);
  auto slots = slots_.find({node, launch.lease});
  if (slots == slots_.end() || in_lease > slots->second) {
    violated(simulation, fmt::format("node {} runs {} tasks in lease {} of {} slots", node, in_lease,
                                     launch.lease.short_string(), slots == slots_.end() ? 0 : slots->second));
  }
}

}  // namespace abacus::sim
