// Reads a simulated command, and keeps the processes of each lease through crashes of the agent.
#include "sim/processes.h"

#include <algorithm>
#include <charconv>

namespace abacus::sim {
namespace {

constexpr Duration kForEver = hours(24 * 365);
constexpr std::int32_t kSigterm = 15, kSigkill = 9;

std::int64_t number(const std::vector<std::string>& command, std::size_t position) {
  std::int64_t value = 0;
  if (position < command.size()) {
    const std::string& text = command[position];
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

TaskEnd end_of(const SimProcess& process, WallTime now) {
  TaskEnd end;
  end.kind = process.ends_as;
  end.signal = process.by_signal;
  end.started_at = process.started_wall;
  end.ended_at = now;
  end.cpu_time = process.ends_at - process.started_at;
  if (end.kind == EndKind::exited) end.exit_code = static_cast<std::int32_t>(number(process.launch.work.command, 2));
  if (end.kind == EndKind::exited && !process.launch.work.outputs.empty()) {
    end.output.bytes[0] = 1;  // Something to fetch; its content does not matter here.
  }
  return end;
}

bool runs(const std::pair<const AttemptId, SimProcess>& entry) { return !entry.second.end; }

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

const SimProcess* Processes::launch(const Launch& launch, Mood mood, std::uint64_t agent_life, Now start) {
  auto [position, fresh] = leases_[launch.lease].try_emplace(launch.attempt);
  if (!fresh) return nullptr;
  SimProcess& process = position->second;
  process.launch = launch;
  process.started_at = start.mono;
  process.started_wall = start.wall;
  process.mood = mood;
  process.agent_life = agent_life;
  process.generation = ++generation_;
  Duration run = mood.hangs ? kForEver : Duration{number(launch.work.command, 1)};
  Duration limit = launch.work.time_limit;
  if (limit > Duration{} && run > limit) {
    process.ends_as = EndKind::timed_out;
    process.by_signal = mood.deaf ? kSigkill : kSigterm;
    run = mood.deaf ? limit + launch.work.grace : limit;
  }
  process.ends_at = start.mono + run;
  return &process;
}

const SimProcess* Processes::interrupt(const LeaseId& lease, const AttemptId& attempt, Duration grace, MonoTime now) {
  SimProcess* process = find(lease, attempt);
  if (process == nullptr || process->end) return nullptr;
  MonoTime stops_at = std::max(process->mood.deaf ? now + grace : now, process->started_at);
  if (process->ends_at <= stops_at) return nullptr;
  process->ends_at = stops_at;
  process->ends_as = EndKind::cancelled;
  process->by_signal = process->mood.deaf ? kSigkill : kSigterm;
  process->generation = ++generation_;
  return process;
}

const SimProcess* Processes::finish(const LeaseId& lease, const AttemptId& attempt, std::uint64_t generation,
                                    WallTime now) {
  SimProcess* process = find(lease, attempt);
  if (process == nullptr || process->end || process->generation != generation) return nullptr;
  process->end = end_of(*process, now);
  return process;
}

void Processes::forget(const LeaseId& lease, const AttemptId& attempt) {
  if (auto found = leases_.find(lease); found != leases_.end()) found->second.erase(attempt);
}

void Processes::power_loss() {
  for (auto& [id, lease] : leases_) std::erase_if(lease, runs);
}

std::optional<std::uint64_t> Processes::shim_died(const LeaseId& lease) {
  std::optional<std::uint64_t> life;
  auto found = leases_.find(lease);
  if (found == leases_.end()) return life;
  std::erase_if(found->second, [&](const auto& entry) {
    if (runs(entry)) life = std::max(life.value_or(0), entry.second.agent_life);
    return runs(entry);
  });
  return life;
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

std::size_t Processes::running() const {
  std::size_t count = 0;
  for (const auto& [id, lease] : leases_) {
    count += static_cast<std::size_t>(std::count_if(lease.begin(), lease.end(), runs));
  }
  return count;
}

}  // namespace abacus::sim
