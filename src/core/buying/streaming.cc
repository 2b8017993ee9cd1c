// Late binding of tasks into slots.
#include "core/buying/streaming.h"

#include <algorithm>

#include "base/check.h"
#include "core/buying/purse.h"
#include "core/buying/watch.h"

namespace abacus {
namespace {

constexpr std::int64_t kPrimedMax = 64;

/// Further attempts the lease has room for.
std::uint32_t room_in(const Job& job, const Lease& lease) {
  std::uint64_t capacity = std::uint64_t{lease.record.slots} * (1 + primed_per_slot(job, lease));
  std::uint64_t held = lease.attempts.size();
  return held >= capacity ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(capacity - held, limits::kSlots));
}

/// How many more fees the budget allows.
std::uint32_t fees_left(const Job& job, const Lease& lease, std::uint32_t wanted) {
  std::optional<Money> left = lease.record.fee > Money{} ? job.left() : std::nullopt;
  if (!left) return wanted;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left->micro / lease.record.fee.micro, 0, wanted));
}

/// At once, or for at_most_once jobs when the attempts are durable.
void send_starts(Turn& t, const Job& job, const Lease& lease, const std::vector<AttemptId>& attempts) {
  auto left = attempts.begin();
  while (left != attempts.end()) {
    auto end = left + std::min<std::ptrdiff_t>(attempts.end() - left, limits::kAttemptsPerMessage);
    Send send{lease.record.seller, job.trace, Start{lease.id(), {left, end}}};
    job.at_most_once() ? t.fx.after_commit(std::move(send)) : t.fx.soft(std::move(send));
    left = end;
  }
}

}  // namespace

bool takes_tasks(const Turn& t, const Job& job, const Lease& lease) {
  const Live* live = std::get_if<Live>(&lease.state);
  if (!live || !live->confirmed || live->closing || live->seller_closed || lease.untouched_since) return false;
  return live->ends_at - t.now.mono > job.run();
}

std::uint32_t primed_per_slot(const Job& job, const Lease& lease) {
  std::int64_t run = job.run().ns, round_trip = lease.round_trip.ns;
  if (run <= 0 || round_trip <= 0 || run / 50 > round_trip) return 0;
  return static_cast<std::uint32_t>(std::min((round_trip + run - 1) / run + 1, kPrimedMax));
}

AttemptId begin_attempt(Turn& t, Job& job, Lease& lease) {
  std::uint32_t position = job.pending.take();
  Task& task = job.task(position);
  // A task placed by an earlier run of this agent may have been placed once more than its journal knows.
  task.attempt += task.restored || (job.restored && task.attempt == 0) ? 2 : 1;
  task.restored = false;
  task.lease = lease.id();
  task.place = lease.place;
  task.placed_at = t.now.wall;
  task.started_at = {};
  task.phase = TaskPhase::placed;
  LeaseAttempt attempt;
  attempt.sent_at = attempt.start_sent_at = t.now.mono;
  lease.attempts.emplace(AttemptKey{position, task.attempt}, attempt);
  ++lease.fees_charged;
  ++t.desk.counters.placements;
  t.fx.put(job.record_of(position));
  return {job.task_id(position), task.attempt};
}

void feed(Turn& t, Job& job, Lease& lease) {
  if (job.pending.empty() || !takes_tasks(t, job, lease)) return;
  std::uint32_t count = std::min(room_in(job, lease), job.pending.size());
  count = fees_left(job, lease, count);
  std::vector<AttemptId> attempts;
  for (std::uint32_t i = 0; i < count; ++i) attempts.push_back(begin_attempt(t, job, lease));
  send_starts(t, job, lease, attempts);
  if (count > 0) watch_starts(t, lease);
}

void recall_surplus(Turn& t, Job& job, Lease& lease) {
  // Some may have begun before the recall arrives: work that should begin once stays and takes its turn.
  if (job.at_most_once()) return;
  std::size_t capacity = std::size_t{lease.record.slots} * (1 + primed_per_slot(job, lease));
  std::vector<AttemptKey> surplus;
  for (auto it = lease.attempts.rbegin();
       it != lease.attempts.rend() && lease.attempts.size() - surplus.size() > capacity; ++it) {
    if (it->second.interrupted) continue;
    it->second.recalled = true;
    surplus.push_back(it->first);
  }
  interrupt(t, job, lease, surplus);
}

void start_again(Turn& t, Job& job, Lease& lease, const std::vector<AttemptKey>& keys) {
  std::vector<AttemptId> attempts;
  for (const AttemptKey& key : keys) {
    auto found = lease.attempts.find(key);
    if (found == lease.attempts.end()) continue;
    found->second.sent_at = found->second.start_sent_at = t.now.mono;
    attempts.push_back({job.task_id(key.first), key.second});
  }
  send_starts(t, job, lease, attempts);
}

void interrupt(Turn& t, Job& job, Lease& lease, const std::vector<AttemptKey>& keys) {
  Interrupt message{lease.id(), {}, job.spec().work.grace};
  for (const AttemptKey& key : keys) {
    auto found = lease.attempts.find(key);
    if (found == lease.attempts.end()) continue;
    found->second.interrupted = true;
    message.attempts.push_back({job.task_id(key.first), key.second});
    if (message.attempts.size() < limits::kAttemptsPerMessage) continue;
    t.send(job, lease.record.seller, message);
    message.attempts.clear();
  }
  if (!message.attempts.empty()) t.send(job, lease.record.seller, std::move(message));
}

}  // namespace abacus
