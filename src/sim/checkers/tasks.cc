// Asks each custodian for its tasks at the end, and remembers the end of each task reported.
#include "sim/checkers/tasks.h"

#include <fmt/format.h>

#include "sim/simulation.h"

namespace abacus::sim {
namespace {

constexpr std::size_t kTasksPerLook = 10'000;

}  // namespace

void NoTaskLostChecker::at_end(const Simulation& simulation) {
  for (const AcceptedJob& job : simulation.accepted()) {
    const Node* custodian = simulation.node(job.custodian);
    if (custodian == nullptr) {
      violated(simulation, fmt::format("the custodian of job {} is down", job.submitted.job.to_string()));
      continue;
    }
    auto tasks = custodian->buying().tasks(job.submitted.job, 0, kTasksPerLook);
    if (!tasks || tasks->size() != job.submitted.tasks) {
      violated(simulation, fmt::format("job {} of {} tasks is not whole at its custodian",
                                       job.submitted.job.to_string(), job.submitted.tasks));
      continue;
    }
  }
}

void EndOnceChecker::on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) {
  const auto* changed = std::get_if<TaskChanged>(&effect);
  if (changed == nullptr || !changed->ended) return;
  auto task = simulation.node(node)->buying().task(changed->task);
  if (!task || !task->end) {
    violated(simulation, fmt::format("task {} is reported ended but has no end", changed->task.to_string()));
    return;
  }
  if (!ends_.emplace(changed->task, *task->end).second) {
    violated(simulation, fmt::format("the end of task {} is reported twice", changed->task.to_string()));
  }
}

}  // namespace abacus::sim
