// Ends of attempts.
#include "core/buying/ends.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/buying/custody.h"
#include "core/buying/settlement.h"
#include "core/buying/streaming.h"
#include "core/buying/watch.h"
#include "protocol/output_dir.h"

namespace abacus {
namespace {

/// Ends that say how the task's own program fared, and are the task's end whoever brings them.
bool final_kind(EndKind kind) {
  return !deserves_retry(kind) && kind != EndKind::cancelled && kind != EndKind::unplaceable;
}

/// Takes a task from those that wait, if it is there.
void claim(Job& job, std::uint32_t position) {
  const Task* task = job.find(position);
  if (!task || task->phase == TaskPhase::waiting) job.pending.remove(position);
}

/// True if the latest attempt of a task is with a seller.
bool attempt_out(Turn& t, const Job& job, std::uint32_t position) {
  const Task* task = job.find(position);
  Lease* lease = task ? t.desk.lease(task->lease) : nullptr;
  return lease && lease->attempts.contains({position, task->attempt});
}

void begin_fetch(Turn& t, Job& job, std::uint32_t position, Fetch fetch) {
  claim(job, position);
  TaskId task = job.task_id(position);
  t.fx.soft(FetchOutputs{{task, fetch.attempt}, fetch.seller, fetch.end.output, output_dir_of(job.spec(), task)});
  job.task(position).phase = TaskPhase::fetching;
  job.fetches[position] = std::move(fetch);
}

/// The end that is kept: of the attempt that came first, wherever it was.
void keep_end(Turn& t, Job& job, std::uint32_t position, std::uint32_t attempt, const Contact& seller,
              const Lease* lease, TaskEnd end) {
  claim(job, position);
  Task& task = job.task(position);
  if (lease) {
    task.place = lease->place;
    if (task.lease != lease->id()) job.strays.emplace(position, std::exchange(task.lease, lease->id()));
  } else if (task.attempt == 0 || job.places[task.place].seller != seller.node) {
    task.place = static_cast<std::uint32_t>(job.places.size());
    job.places.push_back({seller.node, {}, 0, {}});
  }
  task.attempt = attempt;
  task.started_at = end.started_at;
  bool stopped = task.cancelled && (end.kind == EndKind::signalled || deserves_retry(end.kind));
  if (stopped) end.kind = EndKind::cancelled;
  end_task(t, job, position, std::move(end));
}

/// What a lost, interrupted or cancelled attempt means for its task.
void take_failure(Turn& t, Job& job, const Lease& lease, const AttemptKey& key, bool recalled, TaskEnd end) {
  std::uint32_t position = key.first;
  Task& task = job.task(position);
  if (task.attempt != key.second || task.lease != lease.id()) return;  // the task is elsewhere already
  if (task.cancelled) {
    end.kind = EndKind::cancelled;
    return end_task(t, job, position, std::move(end));
  }
  if (recalled) return place_again(t, job, position);
  if (end.kind == EndKind::cancelled) end.kind = EndKind::interrupted;
  retry_or_end(t, job, position, std::move(end));
}

/// The seller is believed what it says of a task's end, within reason.
TaskEnd sane(const Turn& t, TaskEnd end) {
  constexpr std::size_t kMessage = 4'096;
  if (end.message.size() > kMessage) end.message.resize(kMessage);
  WallTime latest = t.now.wall + hours(24);
  end.ended_at = std::clamp(end.ended_at, WallTime{}, latest);
  end.started_at = std::clamp(end.started_at, WallTime{}, end.ended_at);
  return end;
}

/// Takes the end of an attempt that this side holds to be in the lease. False if it has to wait (and be repeated).
bool take_tracked(Turn& t, Job& job, Lease& lease, const AttemptKey& key, const Done& done) {
  std::uint32_t position = key.first;
  bool fetching = job.fetches.contains(position);
  if (fetching && final_kind(done.end.kind)) return false;
  bool recalled = lease.attempts.at(key).recalled;
  lease.attempts.erase(key);
  SellerNotes& notes = t.desk.sellers.at(lease.record.seller.node, t.now);
  if (done.end.kind != EndKind::cancelled) notes.delivery.add(done.end.kind != EndKind::lost);
  if (done.end.kind == EndKind::exited) job.learn_run(done.running);
  if (job.task(position).ended() || fetching) return true;
  TaskEnd end = sane(t, done.end);
  if (!final_kind(end.kind)) {
    take_failure(t, job, lease, key, recalled, std::move(end));
    return true;
  }
  if (end.output.empty()) {
    keep_end(t, job, position, key.second, lease.record.seller, &lease, std::move(end));
    return true;
  }
  Fetch fetch{key.second, lease.id(), lease.record.seller, std::move(end)};
  begin_fetch(t, job, position, std::move(fetch));
  return false;
}

/// An end of an attempt that this side does not hold to be there: repeated, superseded, or from before a restart.
/// Whether it was taken; then it waits for its outputs, or was kept.
enum class Taken { no, kept, waits };

Taken take_untracked(Turn& t, Job& job, std::uint32_t position, const Contact& seller, const Lease* lease,
                     const Done& done) {
  auto fetch = job.fetches.find(position);
  if (fetch != job.fetches.end()) {
    bool same = fetch->second.attempt == done.attempt.number && fetch->second.lease == done.lease;
    return same || final_kind(done.end.kind) ? Taken::waits : Taken::no;
  }
  if (job.has_ended(position) || !final_kind(done.end.kind)) return Taken::no;
  // Only a restart forgets attempts, and not those of at_most_once jobs: they are durable before they leave.
  if (!job.restored || job.at_most_once() || done.attempt.number > job.task(position).attempt + 1) return Taken::no;
  if (done.end.output.empty()) {
    keep_end(t, job, position, done.attempt.number, seller, lease, sane(t, done.end));
    return Taken::kept;
  }
  begin_fetch(t, job, position, {done.attempt.number, done.lease, seller, sane(t, done.end)});
  return Taken::waits;
}

Contact reachable(const Turn& t, const Contact& from) {
  if (from.endpoint.known()) return from;
  OfferRef offer = t.peers.find(from.node);
  return offer ? offer->offer.contact : from;
}

/// A Done for a lease that this node does not have.
void stray_done(Turn& t, const Contact& from, const TraceContext& trace, const Done& done) {
  Job* job = t.desk.job(done.attempt.task.job);
  std::optional<std::uint32_t> position = job ? job->position_of(done.attempt.task.index) : std::nullopt;
  Taken taken = position ? take_untracked(t, *job, *position, reachable(t, from), nullptr, done) : Taken::no;
  if (taken == Taken::waits) return;
  t.fx.after_commit(Send{from, trace, DoneAck{done.lease, {done.attempt}}});
  if (!t.desk.lease(done.lease))
    t.fx.after_commit(Send{from, trace, Release{done.lease, ReleaseReason::unknown_lease}});
  if (job) after_change(t, *job);
}

}  // namespace

void acknowledge(Turn& t, const Job& job, const LeaseId& id, const Contact& seller, const AttemptId& attempt) {
  const Lease* lease = t.desk.lease(id);
  t.fx.after_commit(Send{lease ? lease->record.seller : seller, job.trace, DoneAck{id, {attempt}}});
}

void on_started(Turn& t, const Contact& from, const TraceContext& trace, const Started& started) {
  Lease* lease = t.desk.lease(started.lease);
  if (!lease) return t.fx.send(from, trace, Release{started.lease, ReleaseReason::unknown_lease});
  Job* job = t.desk.job(lease->record.job);
  if (!job || lease->record.seller.node != from.node) return;
  touched(t, *job, *lease);
  std::optional<std::uint32_t> position = job->position_of(started.attempt.task.index);
  if (started.attempt.task.job != job->id() || !position) return;
  auto found = lease->attempts.find({*position, started.attempt.number});
  if (found == lease->attempts.end()) return;
  found->second.state = LeaseAttempt::State::running;
  Task& task = job->task(*position);
  bool news = task.attempt == started.attempt.number && !task.ended() &&
              (task.phase == TaskPhase::placed || task.phase == TaskPhase::staging);
  if (!news) return;
  task.phase = TaskPhase::running;
  task.started_at = std::max(started.at, WallTime{1});
  t.fx.soft(TaskChanged{started.attempt.task, false});
}

void on_done(Turn& t, const Contact& from, const TraceContext& trace, const Done& done) {
  Lease* lease = t.desk.lease(done.lease);
  if (!lease) return stray_done(t, from, trace, done);
  Job* job = t.desk.job(lease->record.job);
  if (!job || lease->record.seller.node != from.node) return;
  std::optional<std::uint32_t> position = job->position_of(done.attempt.task.index);
  if (done.attempt.task.job != job->id() || !position) {
    return t.warn(trace, fmt::format("{} reports the end of {}, which is no task of lease {}", from.node.short_string(),
                                     done.attempt.to_string(), done.lease.short_string()));
  }
  touched(t, *job, *lease);
  AttemptKey key{*position, done.attempt.number};
  bool tracked = lease->attempts.contains(key);
  bool finished = tracked ? take_tracked(t, *job, *lease, key, done)
                          : take_untracked(t, *job, *position, lease->record.seller, lease, done) != Taken::waits;
  if (finished) acknowledge(t, *job, done.lease, lease->record.seller, done.attempt);
  feed(t, *job, *lease);
  after_lease_change(t, *job, *lease);
}

void on_outputs(Turn& t, const OutputsFetched& fetched) {
  Job* job = t.desk.job(fetched.attempt.task.job);
  std::optional<std::uint32_t> position = job ? job->position_of(fetched.attempt.task.index) : std::nullopt;
  if (!position) return;
  auto found = job->fetches.find(*position);
  if (found == job->fetches.end() || found->second.attempt != fetched.attempt.number || !found->second.under_way)
    return;
  Fetch& fetch = found->second;
  if (!fetched.problem.empty() && fetch.tries < t.desk.config.fetch_tries) {
    fetch.under_way = false;
    Duration wait = t.desk.config.fetch_again_after;
    for (std::uint32_t i = 1; i < fetch.tries; ++i) wait = wait * 5;
    return t.desk.timers.set(FetchDue{fetched.attempt.task}, t.now.mono + wait);
  }
  Fetch done = std::move(fetch);
  job->fetches.erase(found);
  if (fetched.problem.empty()) {
    keep_end(t, *job, *position, done.attempt, done.seller, t.desk.lease(done.lease), std::move(done.end));
  } else if (attempt_out(t, *job, *position)) {
    job->task(*position).phase = TaskPhase::placed;
  } else {
    t.desk.sellers.at(done.seller.node, t.now).delivery.add(false);
    done.end.kind = EndKind::lost;
    done.end.output = {};
    done.end.message =
        fmt::format("its outputs could not be fetched from {}: {}", done.seller.node.short_string(), fetched.problem);
    retry_or_end(t, *job, *position, std::move(done.end));
  }
  acknowledge(t, *job, done.lease, done.seller, fetched.attempt);
  after_change(t, *job);
}

void on_fetch_due(Turn& t, const TaskId& task) {
  Job* job = t.desk.job(task.job);
  std::optional<std::uint32_t> position = job ? job->position_of(task.index) : std::nullopt;
  auto found = position ? job->fetches.find(*position) : decltype(job->fetches.end()){};
  if (!position || found == job->fetches.end()) return;
  Fetch fetch = std::move(found->second);
  ++fetch.tries;
  fetch.under_way = true;
  begin_fetch(t, *job, *position, std::move(fetch));
}

}  // namespace abacus
