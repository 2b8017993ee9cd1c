// Watching leases.
#include "core/buying/watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/buying/amounts.h"
#include "core/buying/awards.h"
#include "core/buying/custody.h"
#include "core/buying/negotiation.h"
#include "core/buying/renewal.h"
#include "core/buying/settlement.h"
#include "core/buying/streaming.h"

namespace abacus {
namespace {

constexpr std::uint32_t kBeatsUntilUntouched = 2;

TaskEnd lost_end(const Turn& t, const std::string& why) {
  TaskEnd end;
  end.kind = EndKind::lost;
  end.message = why;
  end.ended_at = t.now.wall;
  return end;
}

/// When even a seller out of touch has stopped everything of the lease.
MonoTime surely_over(const Turn& t, const Live& live) {
  return live.ends_at + t.desk.config.extension + t.desk.config.clock_bound;
}

bool needs_beats(const Lease& lease, const Live& live) {
  return !lease.attempts.empty() || !live.confirmed || live.seller_closed || lease.untouched_since;
}

MonoTime live_due(const Turn& t, const Job& job, const Lease& lease, const Live& live) {
  MonoTime due = t.now.mono < live.ends_at ? live.ends_at : surely_over(t, live);
  if (needs_beats(lease, live)) due = std::min(due, live.beat_at);
  if (live.renew_at) due = std::min(due, *live.renew_at);
  if (live.idle_since && lease.idle()) due = std::min(due, *live.idle_since + t.desk.config.linger);
  if (lease.untouched_since && !job.at_most_once()) {
    MonoTime lost = *lease.untouched_since + job.spec().lost_after;
    if (lost > t.now.mono) due = std::min(due, lost);
  }
  return due;
}

/// A sent attempt that nobody has answered for too long.
bool in_doubt(const Turn& t, const Lease& lease) {
  Duration bound = std::max(t.desk.config.doubt_after, lease.round_trip * 4);
  return std::any_of(lease.attempts.begin(), lease.attempts.end(), [&](const auto& entry) {
    return entry.second.state == LeaseAttempt::State::sent && t.now.mono - entry.second.sent_at >= bound;
  });
}

/// Places the tasks of a lease out of touch again. What still comes of its attempts is taken if it comes first.
void supersede_all(Turn& t, Job& job, Lease& lease) {
  bool any = false;
  for (auto& [key, attempt] : lease.attempts) {
    if (attempt.superseded) continue;
    attempt.superseded = any = true;
    Task& task = job.task(key.first);
    if (task.ended() || task.lease != lease.id()) continue;
    job.strays.emplace(key.first, lease.id());
    retry_or_end(t, job, key.first, lost_end(t, "its seller was out of touch for too long"));
  }
  if (!any) return;
  t.desk.sellers.at(lease.record.seller.node, t.now).delivery.add(false);
  t.note(job, line_of(lease, NegotiationStep::lost));
}

void watch_live(Turn& t, Job& job, Lease& lease) {
  Live& live = std::get<Live>(lease.state);
  if (t.now.mono >= surely_over(t, live)) {
    lose_lease(t, job, lease, "its lease ended while its seller was out of touch");
    return after_change(t, job);
  }
  if (lease.untouched_since && !job.at_most_once() && t.now.mono - *lease.untouched_since >= job.spec().lost_after) {
    supersede_all(t, job, lease);
  }
  if (t.now.mono >= live.ends_at && (live.cut || lease.idle())) {
    release(t, job, lease, live.cut ? ReleaseReason::budget : ReleaseReason::not_renewed);
    return after_change(t, job);
  }
  if (needs_beats(lease, live) && (t.now.mono >= live.beat_at || in_doubt(t, lease))) beat(t, job, lease);
  if (live.renew_at && t.now.mono >= *live.renew_at) renew(t, job, lease);
  after_lease_change(t, job, lease);
  if (lease.live()) arm(t, job, lease);
}

/// What to do about an attempt that the seller does not know.
enum class Unknown { start_again, lost, cancelled, forget };

Unknown meaning_of_unknown(const Job& job, const Lease& lease, const AttemptKey& key, const LeaseAttempt& attempt) {
  const Task* task = job.find(key.first);
  if (!task || task->ended() || task->lease != lease.id() || task->attempt != key.second) return Unknown::forget;
  if (task->cancelled || job.record.cancelled) return Unknown::cancelled;
  const Live* live = std::get_if<Live>(&lease.state);
  bool startable = live && live->confirmed && !live->seller_closed && !attempt.recalled && !attempt.interrupted;
  return startable ? Unknown::start_again : Unknown::lost;
}

void settle_unknown(Turn& t, Job& job, Lease& lease, const std::vector<AttemptKey>& keys) {
  std::vector<AttemptKey> again;
  for (const AttemptKey& key : keys) {
    auto found = lease.attempts.find(key);
    if (found == lease.attempts.end()) continue;
    Unknown meaning = meaning_of_unknown(job, lease, key, found->second);
    if (meaning == Unknown::start_again) {
      // A Start may still be on its way. If not, doubt asks again: two that contradict each other must not do so at the
      // network's speed.
      if (t.now.mono - found->second.start_sent_at >= t.desk.config.doubt_after) again.push_back(key);
      continue;
    }
    bool recalled = found->second.recalled;
    lease.attempts.erase(found);
    if (meaning == Unknown::cancelled) {
      end_task(t, job, key.first, cancelled_end(t));
    } else if (meaning == Unknown::lost && recalled) {
      place_again(t, job, key.first);
    } else if (meaning == Unknown::lost) {
      retry_or_end(t, job, key.first, lost_end(t, "its seller does not know it any more"));
    }
  }
  start_again(t, job, lease, again);
}

void take_states(Job& job, Lease& lease, const LeaseReport& report, std::vector<AttemptKey>& unknown) {
  for (const AttemptReport& one : report.attempts) {
    std::optional<std::uint32_t> position = job.position_of(one.attempt.task.index);
    if (one.attempt.task.job != job.id() || !position) continue;
    AttemptKey key{*position, one.attempt.number};
    auto found = lease.attempts.find(key);
    if (found == lease.attempts.end()) continue;
    if (one.state == AttemptState::unknown) {
      unknown.push_back(key);
    } else if (one.state == AttemptState::staging) {
      found->second.state = LeaseAttempt::State::staging;
      Task& task = job.task(*position);
      if (task.attempt == key.second && task.phase == TaskPhase::placed) task.phase = TaskPhase::staging;
    } else {
      found->second.state = LeaseAttempt::State::running;
    }
  }
}

/// The award of a young lease may still be on its way, and then its tasks would run twice. One from the journal that
/// nobody has confirmed yet may have been awarded again and again until the restart.
bool award_may_come(const Turn& t, const Job& job, const Lease& lease) {
  if (!job.at_most_once()) return false;
  Duration life = t.desk.config.message_life;
  const Live* live = std::get_if<Live>(&lease.state);
  bool in_doubt_since_restart = live && !live->confirmed && t.now.mono - live->since < life;
  return in_doubt_since_restart || t.now.wall - lease.record.opened_at < life;
}

}  // namespace

void arm(Turn& t, const Job& job, Lease& lease) {
  if (const auto* awarded = std::get_if<Awarded>(&lease.state)) {
    lease.watch_at = awarded->again_at;
  } else if (const auto* live = std::get_if<Live>(&lease.state)) {
    lease.watch_at = live_due(t, job, lease, *live);
    bool unanswered = std::any_of(lease.attempts.begin(), lease.attempts.end(),
                                  [](const auto& entry) { return entry.second.state == LeaseAttempt::State::sent; });
    if (unanswered) lease.watch_at = std::min(lease.watch_at, t.now.mono + t.desk.config.doubt_after);
  } else {
    const auto& released = std::get<Released>(lease.state);
    lease.watch_at = std::min(released.again_at, released.forget_at);
  }
  t.desk.timers.set(LeaseDue{lease.id()}, lease.watch_at);
}

void watch_starts(Turn& t, Lease& lease) {
  MonoTime doubt = t.now.mono + t.desk.config.doubt_after;
  if (lease.watch_at <= doubt) return;
  lease.watch_at = doubt;
  t.desk.timers.set(LeaseDue{lease.id()}, doubt);
}

void on_lease_due(Turn& t, Lease& lease) {
  Job* job = t.desk.job(lease.record.job);
  if (!job) return;
  if (std::holds_alternative<Awarded>(lease.state)) return on_award_unanswered(t, *job, lease);
  if (lease.released()) return on_receipt_missing(t, *job, lease);
  watch_live(t, *job, lease);
}

void go_live(Turn& t, Job& job, Lease& lease) {
  Live live;
  Duration rest = std::clamp(lease.record.until - t.now.wall, Duration{}, hours(24 * 3650));
  live.since = t.now.mono;
  live.beat_at = t.now.mono + t.desk.config.beat_every;
  live.ends_at = t.now.mono + rest;
  live.renew_at = t.now.mono + rest * 2 / 3;
  lease.state = live;
  arm(t, job, lease);
}

void touched(Turn&, Job& job, Lease& lease) {
  lease.beats_unanswered = 0;
  if (!lease.untouched_since) return;
  lease.untouched_since.reset();
  job.satisfied = false;
}

void beat(Turn& t, Job& job, Lease& lease) {
  LeaseBeat message{lease.id(), {}};
  std::vector<AttemptKey> to_stop;
  bool sent = false;
  for (auto& [key, attempt] : lease.attempts) {
    attempt.sent_at = t.now.mono;
    if (attempt.interrupted) to_stop.push_back(key);
    message.attempts.push_back({job.task_id(key.first), key.second});
    if (message.attempts.size() < limits::kAttemptsPerMessage) continue;
    t.send(job, lease.record.seller, message);
    message.attempts.clear();
    sent = true;
  }
  if (!sent || !message.attempts.empty()) t.send(job, lease.record.seller, std::move(message));
  interrupt(t, job, lease, to_stop);
  if (auto* live = std::get_if<Live>(&lease.state)) live->beat_at = t.now.mono + t.desk.config.beat_every;
  if (++lease.beats_unanswered > kBeatsUntilUntouched && !lease.untouched_since) lease.untouched_since = t.now.mono;
  lease.round_trip = t.peers.round_trip(lease.record.seller.node);
}

void lose_lease(Turn& t, Job& job, Lease& lease, const std::string& why) {
  auto attempts = std::move(lease.attempts);
  lease.attempts.clear();
  bool lost = false;
  for (const auto& [key, attempt] : attempts) {
    Task& task = job.task(key.first);
    if (task.ended() || task.lease != lease.id()) continue;
    lost = true;
    retry_or_end(t, job, key.first, lost_end(t, why));
  }
  if (lost) {
    t.desk.sellers.at(lease.record.seller.node, t.now).delivery.add(false);
    t.note(job, line_of(lease, NegotiationStep::lost));
  }
  drop_lease(t, job, lease);
}

void on_lease_report(Turn& t, const Contact& from, const LeaseReport& report) {
  Lease* lease = t.desk.lease(report.lease);
  Job* job = lease ? t.desk.job(lease->record.job) : nullptr;
  if (!job || lease->record.seller.node != from.node || std::holds_alternative<Awarded>(lease->state)) return;
  touched(t, *job, *lease);
  if (!report.known && award_may_come(t, *job, *lease)) return;
  if (!report.known) {
    lose_lease(t, *job, *lease, "its seller does not know the lease any more");
    return after_change(t, *job);
  }
  if (auto* live = std::get_if<Live>(&lease->state); live && !live->confirmed) {
    live->confirmed = true;
    job->satisfied = false;
  }
  std::vector<AttemptKey> unknown;
  take_states(*job, *lease, report, unknown);
  settle_unknown(t, *job, *lease, unknown);
  feed(t, *job, *lease);
  after_lease_change(t, *job, *lease);
}

void on_suspicion(Turn& t, const NodeId& peer, bool suspect) {
  std::vector<LeaseId> affected;
  for (const auto& [id, lease] : t.desk.leases) {
    if (lease.record.seller.node == peer && lease.live()) affected.push_back(id);
  }
  for (const LeaseId& id : affected) {
    Lease& lease = *t.desk.lease(id);
    Job* job = t.desk.job(lease.record.job);
    if (!job) continue;
    job->satisfied = false;
    if (suspect) {
      if (!lease.untouched_since) lease.untouched_since = t.now.mono;
    } else {
      touched(t, *job, lease);
      beat(t, *job, lease);
      feed(t, *job, lease);
    }
    arm(t, *job, lease);
    after_lease_change(t, *job, lease);
  }
}

}  // namespace abacus
