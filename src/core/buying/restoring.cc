// Restoring jobs, tasks and leases.
#include "core/buying/restoring.h"

#include <algorithm>

#include "core/buying/custody.h"
#include "core/buying/settlement.h"
#include "core/buying/watch.h"

namespace abacus {
namespace {

/// Tasks of many leases share few places: the latest are looked at first.
std::uint32_t place_for(Job& job, const TaskRecord& record) {
  constexpr std::size_t kLookedAt = 64;
  Place place{record.seller, record.region, record.rounds, record.price};
  std::size_t oldest = job.places.size() > kLookedAt ? job.places.size() - kLookedAt : 0;
  for (std::size_t i = job.places.size(); i-- > oldest;) {
    const Place& known = job.places[i];
    if (known.seller == place.seller && known.price == place.price && known.rounds == place.rounds) {
      return static_cast<std::uint32_t>(i);
    }
  }
  job.places.push_back(std::move(place));
  return static_cast<std::uint32_t>(job.places.size() - 1);
}

void count(Job& job, const TaskEnd& end, std::uint32_t tasks) {
  (end.kind == EndKind::exited && end.exit_code == 0 ? job.succeeded : job.failed) += tasks;
}

/// Fees are charged for tasks; those that ended at this lease no longer name it, so the seller and the time tell.
std::uint32_t fees_of(const Job& job, const Lease& lease) {
  if (lease.record.fee == Money{}) return 0;
  std::uint32_t tasks = 0;
  for (const Task& task : job.tasks) {
    if (task.attempt == 0 || task.place >= job.places.size()) continue;
    bool here = job.places[task.place].seller == lease.record.seller.node && task.placed_at >= lease.record.opened_at;
    if (here || task.lease == lease.id()) ++tasks;
  }
  return tasks;
}

/// Tasks that have no end go to the lease that their record names, or wait.
void sort_tasks(Turn& t, Job& job) {
  std::uint32_t fresh_from = 0;
  auto add_fresh_until = [&](std::uint32_t position) {
    if (!job.record.rest && !job.record.ended_at) job.pending.add_fresh(fresh_from, position);
    fresh_from = position + 1;
  };
  std::uint32_t recorded = 0;
  for (std::uint32_t position = 0; position < job.tasks.size(); ++position) {
    if (!job.find(position)) continue;
    ++recorded;
    add_fresh_until(position);
    Task& task = job.tasks[position];
    if (task.ended() || job.record.ended_at) continue;
    if (job.record.cancelled) task.cancelled = true;
    Lease* lease = task.lease.empty() ? nullptr : t.desk.lease(task.lease);
    if (lease && lease->record.job == job.id()) {
      lease->attempts.emplace(AttemptKey{position, task.attempt}, LeaseAttempt{});
      task.phase = TaskPhase::placed;
      continue;
    }
    task.lease = {};
    task.phase = TaskPhase::waiting;
    if (task.cancelled) {
      end_task(t, job, position, cancelled_end(t));
    } else {
      job.pending.add_again(position);
    }
  }
  add_fresh_until(job.size());
  if (job.record.rest) count(job, *job.record.rest, job.size() - recorded);
}

void resume_lease(Turn& t, Lease& lease) {
  Job* job = t.desk.job(lease.record.job);
  lease.round_trip = t.peers.round_trip(lease.record.seller.node);
  lease.fees_charged = fees_of(*job, lease);
  for (auto& [key, attempt] : lease.attempts) {
    attempt.sent_at = t.now.mono;
    attempt.interrupted = job->task(key.first).cancelled;
  }
  if (lease.record.released) return release(t, *job, lease, ReleaseReason::work_done);
  go_live(t, *job, lease);
  std::get<Live>(lease.state).confirmed = false;
  beat(t, *job, lease);
  arm(t, *job, lease);
}

void resume_job(Turn& t, Job& job) {
  if (job.record.ended_at) {
    t.desk.ended_jobs.emplace(*job.record.ended_at, job.id());
    return;
  }
  if (job.spec().deadline) {
    Duration left = std::clamp(*job.spec().deadline - t.now.wall, Duration{}, hours(24 * 3650));
    t.desk.timers.set(DeadlineDue{job.id()}, t.now.mono + left);
  }
  after_change(t, job);
}

}  // namespace

void restore_job(Desk& desk, const JobRecord& record) {
  Job job(record);
  job.restored = true;
  desk.jobs.insert_or_assign(record.job, std::move(job));
}

void restore_task(Desk& desk, const TaskRecord& record) {
  Job* job = desk.job(record.task.job);
  std::optional<std::uint32_t> position = job ? job->position_of(record.task.index) : std::nullopt;
  if (!position) return;
  Task& task = job->task(*position);
  task.attempt = record.attempt;
  if (record.attempt > 0) task.place = place_for(*job, record);
  if (record.lease) task.lease = *record.lease;
  task.placed_at = record.placed_at;
  task.cancelled = record.cancelled;
  task.restored = record.attempt > 0;
  if (!record.end) return;
  task.end = std::make_unique<TaskEnd>(*record.end);
  task.phase = TaskPhase::ended;
  task.started_at = record.end->started_at;
  count(*job, *record.end, 1);
}

void restore_lease(Desk& desk, const BoughtLeaseRecord& record) {
  Job* job = desk.job(record.job);
  if (!job) return;
  Lease& lease = desk.leases[record.lease];
  lease.record = record;
  lease.slots_awarded = record.slots;
  lease.place = static_cast<std::uint32_t>(job->places.size());
  job->places.push_back({record.seller.node, record.region, 0, record.price});
  job->leases.push_back(&lease);
  lease.state = Live{};
}

void resume(Turn& t) {
  for (auto& [id, job] : t.desk.jobs) sort_tasks(t, job);
  std::vector<LeaseId> leases;
  for (const auto& [id, lease] : t.desk.leases) leases.push_back(id);
  for (const LeaseId& id : leases) resume_lease(t, *t.desk.lease(id));
  for (auto& [id, job] : t.desk.jobs) resume_job(t, job);
  t.desk.timers.set(RetentionDue{}, t.now.mono + hours(1));
}

}  // namespace abacus
