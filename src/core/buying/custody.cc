// Custody of jobs.
#include "core/buying/custody.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "core/buying/negotiation.h"
#include "core/buying/settlement.h"
#include "core/buying/streaming.h"
#include "core/buying/validate_job.h"
#include "core/buying/watch.h"

namespace abacus {
namespace {

/// A bulk of tasks that end together is told as a change of the job alone.
constexpr std::uint32_t kToldOneByOne = 1'000;

void count_end(Turn& t, Job& job, const TaskEnd& end, std::uint32_t tasks) {
  bool success = end.kind == EndKind::exited && end.exit_code == 0;
  (success ? job.succeeded : job.failed) += tasks;
  (success ? t.desk.counters.tasks_succeeded : t.desk.counters.tasks_failed) += tasks;
}

/// Other attempts of an ended task are of no use.
void stop_others(Turn& t, Job& job, std::uint32_t position, const LeaseId& latest) {
  std::vector<LeaseId> where;
  if (!latest.empty()) where.push_back(latest);
  auto [first, last] = job.strays.equal_range(position);
  for (auto stray = first; stray != last; ++stray) where.push_back(stray->second);
  job.strays.erase(first, last);
  for (const LeaseId& id : where) {
    Lease* lease = t.desk.lease(id);
    if (!lease) continue;
    std::vector<AttemptKey> keys;
    for (auto it = lease->attempts_of(position); it != lease->attempts.end() && it->first.first == position; ++it) {
      if (!it->second.interrupted) keys.push_back(it->first);
    }
    if (!keys.empty()) interrupt(t, job, *lease, keys);
  }
}

void end_job(Turn& t, Job& job) {
  constexpr std::size_t kLinesOfEndedJobs = 50;
  job.record.ended_at = t.now.wall;
  job.history.keep(kLinesOfEndedJobs);
  end_episode(t, job);
  t.desk.timers.cancel(DeadlineDue{job.id()});
  for (NegotiationId id : job.negotiations) t.desk.negotiations.erase(id);
  job.negotiations.clear();
  t.fx.put(job.record);
  t.fx.after_commit(JobChanged{job.id(), true});
  t.desk.ended_jobs.emplace(t.now.wall, job.id());
  if (!t.desk.timers.contains(RetentionDue{})) t.desk.timers.set(RetentionDue{}, t.now.mono + hours(1));
  if (t.desk.ended_jobs.size() > t.desk.config.ended_jobs_max) t.desk.timers.set(RetentionDue{}, t.now.mono);
  for (std::size_t i = job.leases.size(); i-- > 0;) {
    Lease& lease = *job.leases[i];
    if (lease.live()) release_if_idle(t, job, lease);
  }
}

JobId new_job_id(Desk& desk) {
  JobId id;
  do {
    desk.prng.fill(id.bytes);
  } while (desk.jobs.contains(id) || id.empty());
  return id;
}

void set_deadline(Turn& t, const Job& job) {
  if (!job.spec().deadline) return;
  Duration left = std::clamp(*job.spec().deadline - t.now.wall, Duration{}, hours(24 * 3650));
  t.desk.timers.set(DeadlineDue{job.id()}, t.now.mono + left);
}

/// Stops one task wherever it is; false if it had ended.
bool cancel_task(Turn& t, Job& job, std::uint32_t position) {
  if (job.has_ended(position)) return false;
  Task& task = job.task(position);
  if (task.cancelled) return true;
  task.cancelled = true;
  if (job.pending.remove(position)) {
    end_task(t, job, position, cancelled_end(t));
    return true;
  }
  t.fx.put(job.record_of(position));
  std::vector<LeaseId> where{task.lease};
  auto [first, last] = job.strays.equal_range(position);
  for (auto stray = first; stray != last; ++stray) where.push_back(stray->second);
  for (const LeaseId& id : where) {
    Lease* lease = t.desk.lease(id);
    if (!lease) continue;
    std::vector<AttemptKey> keys;
    for (auto it = lease->attempts_of(position); it != lease->attempts.end() && it->first.first == position; ++it) {
      keys.push_back(it->first);
    }
    interrupt(t, job, *lease, keys);
  }
  return true;
}

/// Everything of the job. What was never placed needs no record of its own.
std::uint32_t cancel_all(Turn& t, Job& job) {
  std::uint32_t stopped = job.size() - job.ended();
  job.record.cancelled = true;
  end_pending(t, job, EndKind::cancelled, "cancelled by its user before it was placed");
  std::vector<std::uint32_t> placed;
  for (std::uint32_t i = 0; i < job.tasks.size(); ++i) {
    if (job.find(i) && !job.tasks[i].ended()) placed.push_back(i);
  }
  for (Lease* lease : job.leases) {
    std::vector<AttemptKey> keys;
    for (const auto& [key, attempt] : lease->attempts) keys.push_back(key);
    interrupt(t, job, *lease, keys);
  }
  for (std::uint32_t position : placed) job.tasks[position].cancelled = true;
  t.fx.put(job.record);
  return stopped;
}

void answer_cancel(Turn& t, const CancelJob& command, JobCancelled answer) {
  t.fx.after_commit(Answer{command.request, answer});
}

}  // namespace

TaskEnd cancelled_end(const Turn& t) {
  TaskEnd end;
  end.kind = EndKind::cancelled;
  end.message = "cancelled by its user";
  end.ended_at = t.now.wall;
  return end;
}

void submit(Turn& t, const SubmitJob& command) {
  if (Status valid = validate_for_custody(command.spec); !valid) {
    return t.fx.soft(Answer{command.request, valid.error().in("job")});
  }
  JobRecord record;
  record.job = new_job_id(t.desk);
  record.spec = command.spec;
  record.submitted_at = t.now.wall;
  Job& job = t.desk.jobs.try_emplace(record.job, Job(record)).first->second;
  t.fx.put(job.record);
  t.fx.after_commit(Answer{command.request, JobSubmitted{job.id(), job.size()}});
  t.fx.after_commit(JobChanged{job.id(), false});
  job.pending.add_fresh(0, job.size());
  set_deadline(t, job);
  after_change(t, job);
}

void cancel(Turn& t, const CancelJob& command) {
  Job* job = t.desk.job(command.job);
  if (!job) {
    return t.fx.soft(
        Answer{command.request, Error{ErrorCode::not_found, fmt::format("this agent has no job {}: ask the one "
                                                                        "that it was submitted to",
                                                                        command.job.to_string())}});
  }
  std::uint32_t stopped = 0;
  if (!command.index) {
    if (!job->all_ended()) stopped = cancel_all(t, *job);
  } else if (std::optional<std::uint32_t> position = job->position_of(*command.index)) {
    stopped = cancel_task(t, *job, *position) ? 1 : 0;
  } else {
    return t.fx.soft(Answer{
        command.request,
        Error{ErrorCode::not_found, fmt::format("job {} has no task {}", command.job.to_string(), *command.index)}});
  }
  answer_cancel(t, command, {job->id(), stopped});
  after_change(t, *job);
}

void end_task(Turn& t, Job& job, std::uint32_t position, TaskEnd end) {
  Task& task = job.task(position);
  CHECK(!task.ended());
  LeaseId latest = task.lease;
  count_end(t, job, end, 1);
  task.end = std::make_unique<TaskEnd>(std::move(end));
  task.phase = TaskPhase::ended;
  task.lease = {};
  t.fx.put(job.record_of(position));
  t.fx.after_commit(TaskChanged{job.task_id(position), true});
  if (auto fetch = job.fetches.find(position); fetch != job.fetches.end()) {
    t.desk.timers.cancel(FetchDue{job.task_id(position)});
    job.fetches.erase(fetch);
  }
  stop_others(t, job, position, latest);
}

void end_pending(Turn& t, Job& job, EndKind kind, const std::string& why) {
  TaskEnd end;
  end.kind = kind;
  end.message = why;
  end.ended_at = t.now.wall;
  end_episode(t, job);
  for (std::uint32_t position : job.pending.take_again()) end_task(t, job, position, end);
  std::uint32_t never_placed = job.pending.drop_fresh();
  if (never_placed == 0) return;
  job.record.rest = end;
  count_end(t, job, end, never_placed);
  t.fx.put(job.record);
  if (never_placed <= kToldOneByOne) {
    for (std::uint32_t i = 0; i < job.size(); ++i) {
      if (!job.find(i)) t.fx.after_commit(TaskChanged{job.task_id(i), true});
    }
  }
  t.fx.after_commit(JobChanged{job.id(), false});
}

void place_again(Turn& t, Job& job, std::uint32_t position) {
  Task& task = job.task(position);
  task.lease = {};
  task.phase = TaskPhase::waiting;
  t.fx.put(job.record_of(position));
  t.fx.soft(TaskChanged{job.task_id(position), false});
  job.pending.add_again(position);
  job.satisfied = false;
}

void retry_or_end(Turn& t, Job& job, std::uint32_t position, TaskEnd end) {
  Task& task = job.task(position);
  if (task.cancelled || job.record.cancelled) return end_task(t, job, position, cancelled_end(t));
  ++task.tries;
  if (task.tries < job.spec().attempts_max) {
    ++t.desk.counters.tasks_lost;
    return place_again(t, job, position);
  }
  if (end.message.empty()) end.message = "the attempt was lost";
  end.message += fmt::format("; {} of {} attempts are used up", task.tries, job.spec().attempts_max);
  if (end.ended_at == WallTime{}) end.ended_at = t.now.wall;
  end_task(t, job, position, std::move(end));
}

void after_change(Turn& t, Job& job) {
  if (job.record.ended_at) return;
  if (job.all_ended()) return end_job(t, job);
  consider(t, job);
}

void after_lease_change(Turn& t, Job& job, Lease& lease) {
  after_change(t, job);
  release_if_idle(t, job, lease);
}

void on_retention_due(Turn& t) {
  constexpr std::size_t kRecordsAtOnce = 10'000;
  const BuyingConfig& config = t.desk.config;
  std::size_t erased = 0;
  t.desk.timers.set(RetentionDue{}, t.now.mono + hours(1));
  while (!t.desk.ended_jobs.empty()) {
    auto [ended_at, id] = *t.desk.ended_jobs.begin();
    bool old = t.now.wall - ended_at > config.ended_jobs_kept;
    if (!old && t.desk.ended_jobs.size() <= config.ended_jobs_max) return;
    Job& job = t.desk.jobs.at(id);
    if (!job.leases.empty()) return;
    for (; !job.tasks.empty(); job.tasks.pop_back()) {
      if (erased++ == kRecordsAtOnce) return t.desk.timers.set(RetentionDue{}, t.now.mono + milliseconds(100));
      auto position = static_cast<std::uint32_t>(job.tasks.size() - 1);
      if (job.find(position)) t.fx.erase<TaskRecord>(job.task_id(position));
    }
    t.fx.erase<JobRecord>(id);
    t.desk.ended_jobs.erase(t.desk.ended_jobs.begin());
    t.desk.jobs.erase(id);
  }
}

}  // namespace abacus
