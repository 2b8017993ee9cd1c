// Reads a simulated command, and keeps the processes of each lease through crashes of the agent.
#include "sim/processes.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/result.h"

namespace abacus::sim {
namespace {

constexpr MonoTime kNever{std::numeric_limits<std::int64_t>::max()};
constexpr std::int32_t kSigterm = 15, kSigkill = 9;

std::int64_t number(const std::vector<std::string>& command, std::size_t position) {
  std::int64_t value = 0;
  if (position < command.size()) {
    const std::string& text = command[position];
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

bool can_start(const std::vector<std::string>& command) { return !command.empty() && command[0] == "sim"; }

bool is_deaf(const std::vector<std::string>& command) { return command.size() > 3 && command[3] == "deaf"; }

/// The time limit comes before whoever else asked it to stop, as for a real process.
EndKind kind_of(const SimProcess& process, std::int32_t signal) {
  bool by_itself = process.done_at <= process.stopped_at();
  if (process.limit_at < process.ends_at() || (!by_itself && process.limit_at == process.ends_at())) {
    return EndKind::timed_out;
  }
  if (process.interrupted_at && *process.interrupted_at <= process.ends_at()) return EndKind::cancelled;
  return signal != 0 ? EndKind::signalled : EndKind::exited;
}

TaskEnd end_of(const SimProcess& process, WallTime now) {
  TaskEnd end;
  auto code = static_cast<std::int32_t>(number(process.launch.work.command, 2));
  bool by_itself = process.done_at <= process.stopped_at();
  end.signal = by_itself ? std::max(-code, 0) : process.deaf ? kSigkill : kSigterm;
  end.exit_code = end.signal != 0 ? -1 : code;
  end.kind = kind_of(process, end.signal);
  end.started_at = process.started_wall;
  end.ended_at = now;
  end.cpu_time = process.ends_at() - process.started_at;
  if (end.kind == EndKind::exited && !process.launch.work.outputs.empty()) {
    end.output.bytes[0] = 1;  // Something to fetch; its content does not matter here.
  }
  return end;
}

TaskEnd not_started(std::string why, WallTime now) {
  TaskEnd end;
  end.kind = EndKind::failed_to_start;
  end.exit_code = -1;
  end.message = std::move(why);
  end.started_at = end.ended_at = now;
  return end;
}

bool runs(const std::pair<const AttemptId, SimProcess>& entry) { return !entry.second.end; }

std::uint32_t running_in(const SimLease& lease) {
  return static_cast<std::uint32_t>(std::count_if(lease.attempts.begin(), lease.attempts.end(), runs));
}

/// Why an attempt of a lease cannot be started; empty if it can.
std::string obstacle(const SimLease& lease, const Launch& launch, Mood mood) {
  if (running_in(lease) >= lease.slots) return fmt::format("all {} slots of the lease are busy", lease.slots);
  return mood.fails || !can_start(launch.work.command) ? "no such program" : "";
}

}  // namespace

std::vector<std::string> sim_command(Duration run_time, int exit_code, bool deaf) {
  std::vector<std::string> command{"sim", std::to_string(run_time.ns), std::to_string(exit_code)};
  if (deaf) command.push_back("deaf");
  return command;
}

MonoTime SimProcess::stopped_at() const { return deaf ? kill_at : std::min(limit_at, interrupted_at.value_or(kNever)); }

SimProcess* Processes::find(const LeaseId& lease, const AttemptId& attempt) {
  auto found_lease = leases_.find(lease);
  if (found_lease == leases_.end()) return nullptr;
  auto found = found_lease->second.attempts.find(attempt);
  return found == found_lease->second.attempts.end() ? nullptr : &found->second;
}

const SimProcess* Processes::launch(const Launch& launch, Mood mood, std::uint64_t agent_life, Now start) {
  auto lease = leases_.find(launch.lease);
  if (lease == leases_.end() || lease->second.broken) return nullptr;
  if (const SimProcess* known = find(launch.lease, launch.attempt)) return known;
  std::string why_not = obstacle(lease->second, launch, mood);
  SimProcess& process = lease->second.attempts[launch.attempt];
  process.launch = launch;
  process.started_at = start.mono;
  process.started_wall = start.wall;
  process.done_at = mood.hangs ? kNever : start.mono + Duration{number(launch.work.command, 1)};
  Duration limit = launch.work.time_limit;
  process.limit_at = limit > Duration{} ? start.mono + limit : kNever;
  process.kill_at = limit > Duration{} ? process.limit_at + launch.work.grace : kNever;
  process.deaf = mood.deaf || is_deaf(launch.work.command);
  process.agent_life = agent_life;
  process.generation = ++generation_;
  if (!why_not.empty()) process.end = not_started(std::move(why_not), start.wall);
  return &process;
}

const SimProcess* Processes::interrupt(const LeaseId& lease, const AttemptId& attempt, Duration grace, MonoTime now) {
  SimProcess* process = find(lease, attempt);
  if (process == nullptr || process->end) return nullptr;
  now = std::max(now, process->started_at);
  if (!process->interrupted_at) process->interrupted_at = now;
  process->kill_at = std::min(process->kill_at, now + grace);
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
  SimProcess* process = find(lease, attempt);
  if (process != nullptr && process->end) leases_[lease].attempts.erase(attempt);
}

void Processes::break_down(SimLease& lease) {
  lease.broken = true;
  std::erase_if(lease.attempts, runs);
}

void Processes::power_loss() {
  for (auto& [id, lease] : leases_) break_down(lease);
}

bool Processes::shim_died(const LeaseId& lease) {
  auto found = leases_.find(lease);
  if (found == leases_.end() || found->second.broken) return false;
  break_down(found->second);
  return true;
}

RunsAdopted Processes::inventory() const {
  RunsAdopted adopted;
  for (const auto& [id, lease] : leases_) {
    AdoptedLease& entry = adopted.leases.emplace_back();
    entry.lease = id;
    for (const auto& [attempt, process] : lease.attempts) {
      entry.attempts.push_back({attempt, process.end.has_value(), process.end.value_or(TaskEnd{})});
    }
  }
  return adopted;
}

std::size_t Processes::running() const {
  std::size_t count = 0;
  for (const auto& [id, lease] : leases_) count += running_in(lease);
  return count;
}

}  // namespace abacus::sim
