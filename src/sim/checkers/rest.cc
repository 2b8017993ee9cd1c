// Looks for what is left of work that has ended.
#include "sim/checkers/rest.h"

#include <fmt/format.h>

#include "sim/simulation.h"

namespace abacus::sim {
namespace {

constexpr Duration kIdleWake = minutes(10);  ///< A buyer at rest wakes for old jobs only, which is once an hour.

}  // namespace

void RestChecker::at_end(const Simulation& simulation) {
  if (!simulation.all_ended()) return;  // That is for another checker to say.
  for (NodeIndex i = 0; i < simulation.size(); ++i) check_node(simulation, i);
}

void RestChecker::check_node(const Simulation& simulation, NodeIndex index) {
  auto left = [&](std::size_t count, const char* what) {
    if (count > 0) violated(simulation, fmt::format("node {} still has {} {}", index, count, what));
  };
  left(simulation.processes(index).running(), "running processes");
  left(simulation.disk(index).all<RunRecord>().size(), "attempts in its journal");
  left(simulation.disk(index).all<SoldLeaseRecord>().size(), "sold leases in its journal");
  left(simulation.disk(index).all<BoughtLeaseRecord>().size(), "bought leases in its journal");
  const Node* node = simulation.node(index);
  if (node == nullptr) return;
  left(node->selling().view(simulation.now_at(index)).leases.size(), "sold leases");
  left(node->buying().leases().size(), "bought leases");
  if (node->selling().free() != node->selling().capacity()) left(1, "held slots without a lease");
  std::optional<MonoTime> wake = node->buying().next_wake();
  if (wake && *wake < simulation.now().mono + kIdleWake) left(1, "timers of work that has ended");
}

}  // namespace abacus::sim
