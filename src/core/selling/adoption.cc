// After a restart: leases and runs from the journal, and what the executor found, made to agree.
#include <set>

#include "core/selling/leases.h"

namespace abacus {

void Leases::restore(const SoldLeaseRecord& record) {
  auto [position, fresh] = leases_.try_emplace(record.lease, record, TraceContext{}, config_.grace_max);
  if (!fresh) return;
  SoldLease& lease = position->second;
  if (record.receipt) lease.phase = LeaseClosed{};
  lease.awaits_adoption = true;
}

void Leases::restore(const RunRecord& record) { restored_runs_.push_back(record); }

void Leases::restored(Now now, Effects& fx) {
  for (const RunRecord& run : restored_runs_) {
    SoldLease* lease = at(run.lease);
    if (lease != nullptr && attempts_.try_emplace(run.attempt, run.lease).second) {
      lease->restore(run);
      continue;
    }
    // Its lease was settled and forgotten, so nobody waits for it.
    fx.erase<RunRecord>(run.attempt);
    fx.after_commit(ForgetAttempt{run.lease, run.attempt});
  }
  restored_runs_.clear();
  for (auto& [id, lease] : leases_) {
    if (lease.awaits_adoption) hold_restored(lease, now);
  }
}

void Leases::hold_restored(SoldLease& lease, Now now) {
  const SoldLeaseRecord& record = lease.record;
  lease.last_word = lease.idle_since = now.mono;
  count_in(lease);
  if (!record.receipt) room_.hold(record.bundle, record.slots, record.devices);
  if (record.receipt || lease.ended_unacknowledged() > 0) expect_ack(lease, now);
  watch(lease, now);
}

void Leases::on(const RunsAdopted& adopted, Now now, Effects& fx) {
  std::set<LeaseId> found;
  for (const AdoptedLease& entry : adopted.leases) {
    found.insert(entry.lease);
    SoldLease* lease = at(entry.lease);
    if (lease == nullptr) {
      fx.after_commit(CloseLease{entry.lease});
    } else if (lease->awaits_adoption) {
      adopt(*lease, entry.attempts, now, fx);
    }
  }
  for (auto& [id, lease] : leases_) {
    if (!lease.awaits_adoption) continue;
    const SoldLeaseRecord& record = lease.record;
    // The crash may have come between the record and the executor's work on it.
    if (!found.contains(id) && !record.receipt) {
      fx.after_commit(OpenLease{id, record.buyer.node, record.slots, record.until + config_.disconnected_extension});
    }
    adopt(lease, {}, now, fx);
  }
}

void Leases::adopt(SoldLease& lease, const std::vector<AdoptedAttempt>& attempts, Now now, Effects& fx) {
  const LeaseId& id = lease.record.lease;
  std::set<AttemptId> here;
  for (const AdoptedAttempt& found : attempts) {
    here.insert(found.attempt);
    if (!lease.has(found.attempt)) {
      if (!found.ended) fx.after_commit(InterruptProcess{id, found.attempt, Duration{}});
      fx.after_commit(ForgetAttempt{id, found.attempt});
    } else if (found.ended) {
      TaskEnd end = found.end;
      // The executor ends what outlives its lease; the agent that would have called it so was away.
      bool cut_short = end.kind == EndKind::signalled || end.kind == EndKind::cancelled;
      if (cut_short && end.ended_at >= lease.record.until) end.kind = EndKind::interrupted;
      on(ProcessEnded{id, found.attempt, end}, now, fx);
    } else if (const WallTime* intended = lease.intended_at(found.attempt)) {
      on(ProcessStarted{id, found.attempt, *intended}, now, fx);
    }
  }
  for (const AttemptId& attempt : lease.placed()) {
    if (!here.contains(attempt)) {
      lease.abandon(attempt, EndKind::lost, "nothing was left of it when the agent came back", now, fx);
    }
  }
  lease.awaits_adoption = false;
  if (lease.ended_unacknowledged() > 0) expect_ack(lease, now);
  lease.advance(now, fx);
  follow(lease, now, fx);
}

}  // namespace abacus
