// Reads a simulated command, and keeps the processes of each lease through crashes of the agent.
#include "sim/processes.h"

#include <charconv>

namespace abacus::sim {
namespace {

std::int64_t number(const std::vector<std::string>& command, std::size_t position) {
  std::int64_t value = 0;
  if (position < command.size()) {
    const std::string& text = command[position];
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

TaskEnd end_of(const SimProcess& process, EndKind kind, WallTime now) {
  TaskEnd end;
  end.kind = kind;
  end.started_at = process.started_at;
  end.ended_at = now;
  end.cpu_time = now - process.started_at;
  if (kind == EndKind::exited) end.exit_code = static_cast<std::int32_t>(number(process.launch.work.command, 2));
  if (kind == EndKind::cancelled) end.signal = 15;
  if (kind == EndKind::exited && !process.launch.work.outputs.empty()) {
    end.output.bytes[0] = 1;  // Something to fetch; its content does not matter here.
  }
  return end;
}

}  // namespace

std::vector<std::string> sim_command(Duration run_time, int exit_code) {
  return {"sim", std::to_string(run_time.ns), std::to_string(exit_code)};
}

SimProcess* Processes::find(const LeaseId& lease, const AttemptId& attempt) {
  auto found_lease = leases_.find(lease);
  if (found_lease == leases_.end()) return nullptr;
  auto found = found_lease->second.find(attempt);
  return found == found_lease->second.end() ? nullptr : &found->second;
}

const SimProcess* Processes::launch(const Launch& launch, Now now) {
  Lease& lease = leases_[launch.lease];
  auto [position, fresh] = lease.try_emplace(launch.attempt);
  if (!fresh) return nullptr;
  position->second = {launch, now.mono + Duration{number(launch.work.command, 1)}, now.wall, std::nullopt,
                      ++generation_};
  return &position->second;
}

const SimProcess* Processes::interrupt(const LeaseId& lease, const AttemptId& attempt, WallTime now) {
  SimProcess* process = find(lease, attempt);
  if (process == nullptr || process->end) return nullptr;
  process->end = end_of(*process, EndKind::cancelled, now);
  return process;
}

const SimProcess* Processes::finish(const LeaseId& lease, const AttemptId& attempt, std::uint64_t generation,
                                    WallTime now) {
  SimProcess* process = find(lease, attempt);
  if (process == nullptr || process->end || process->generation != generation) return nullptr;
  process->end = end_of(*process, EndKind::exited, now);
  return process;
}

void Processes::forget(const LeaseId& lease, const AttemptId& attempt) {
  if (auto found = leases_.find(lease); found != leases_.end()) found->second.erase(attempt);
}

void Processes::power_loss() {
  for (auto& [id, lease] : leases_) std::erase_if(lease, [](const auto& entry) { return !entry.second.end; });
}

RunsAdopted Processes::inventory() const {
  RunsAdopted adopted;
  for (const auto& [id, lease] : leases_) {
    AdoptedLease& entry = adopted.leases.emplace_back();
    entry.lease = id;
    for (const auto& [attempt, process] : lease) {
      entry.attempts.push_back({attempt, process.end.has_value(), process.end.value_or(TaskEnd{})});
    }
  }
  return adopted;
}

}  // namespace abacus::sim
