// Release and receipt.
#include "core/buying/settlement.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/buying/amounts.h"
#include "core/buying/awards.h"
#include "core/buying/custody.h"
#include "core/buying/negotiation.h"
#include "core/buying/streaming.h"
#include "core/buying/watch.h"

namespace abacus {
namespace {

/// Until when the seller may have counted: shortly after the release, or as long as it may work on out of touch.
WallTime counted_until(const Turn& t, const Lease& lease) {
  const BuyingConfig& config = t.desk.config;
  WallTime latest = lease.latest_end() + config.extension;
  const auto* released = std::get_if<Released>(&lease.state);
  if (!released || lease.untouched_since || released->tries > 1) return latest;
  return std::min(latest, released->since + config.clock_bound + lease.round_trip * 2);
}

/// What the job is charged: what the receipt says, if the agreed price, the slots and this node's own clock bear it
/// out. A job with a budget is charged for no time after the lease's end, which is all that was committed for it.
Money charge(Turn& t, const Job& job, const Lease& lease, const Receipt& receipt) {
  WallTime counted = counted_until(t, lease);
  Money most = std::max(lease.owed_by(counted), Money{});
  Money charged = std::min(receipt.owed, most);
  if (receipt.owed > most) {
    t.warn(job.trace, fmt::format("lease {} of {}: the receipt claims {}, agreed were {} at most; charged that",
                                  lease.id().short_string(), lease.record.seller.node.short_string(),
                                  to_string(receipt.owed), to_string(most)));
    t.desk.sellers.at(lease.record.seller.node, t.now).delivery.add(false);
  }
  if (!job.spec().budget) return charged;
  return std::min(charged, std::max(lease.owed_by(std::min(counted, lease.record.until)), Money{}));
}

void settle(Turn& t, Job& job, Lease& lease, const Receipt& receipt) {
  job.record.spent = sum(job.record.spent, charge(t, job, lease, receipt));
  t.fx.put(ReceiptRecord{receipt, lease.record.seller.node, t.desk.self.node});
  t.fx.put(job.record);
  t.fx.after_commit(Send{lease.record.seller, job.trace, ReceiptAck{lease.id()}});
  drop_lease(t, job, lease);
  if (job.record.ended_at) t.fx.after_commit(JobChanged{job.id(), true});
}

/// Every attempt was sent or asked about a moment ago: the answers are on their way. Receipts are repeated, and each
/// question brings another one; without this the two sides would talk at the network's speed for as long as, say,
/// outputs are being fetched, and a node with itself at no cost in time at all.
bool asked_lately(const Turn& t, const Lease& lease) {
  return std::all_of(lease.attempts.begin(), lease.attempts.end(),
                     [&](const auto& entry) { return t.now.mono - entry.second.sent_at < t.desk.config.doubt_after; });
}

/// What came of the lease cannot be known yet: the seller is asked about every attempt.
void ask_about_all(Turn& t, Job& job, Lease& lease) {
  bool was_awarded = std::holds_alternative<Awarded>(lease.state);
  if (was_awarded) {
    award_landed(t, job, lease, true);
    go_live(t, job, lease);
  }
  Live& live = std::get<Live>(lease.state);
  live.seller_closed = true;
  live.renew_at.reset();
  job.satisfied = false;
  beat(t, job, lease);
  arm(t, job, lease);
  if (was_awarded) award_resolved(t, job, lease.id(), true);
}

}  // namespace

void release(Turn& t, Job& job, Lease& lease, ReleaseReason reason) {
  constexpr Duration kAgainAfter = seconds(2);
  Released released;
  released.since = t.now.wall;
  released.again_at = t.now.mono + kAgainAfter;
  Duration rest = std::clamp(lease.latest_end() - t.now.wall, Duration{}, hours(24 * 3650));
  released.forget_at = t.now.mono + rest + t.desk.config.extension + t.desk.config.clock_bound;
  lease.state = released;
  lease.reserve = {};
  lease.record.released = true;
  t.fx.put(lease.record);
  t.fx.after_commit(Send{lease.record.seller, job.trace, Release{lease.id(), reason}});
  t.note(job, line_of(lease, NegotiationStep::released));
  job.satisfied = false;
  arm(t, job, lease);
}

void release_if_idle(Turn& t, Job& job, Lease& lease) {
  Live* live = std::get_if<Live>(&lease.state);
  if (!live || !live->confirmed) return;
  bool useful = !lease.idle() || (!job.pending.empty() && takes_tasks(t, job, lease));
  if (useful) return live->idle_since.reset();
  if (!live->idle_since) live->idle_since = t.now.mono;
  if (t.now.mono - *live->idle_since < t.desk.config.linger) return arm(t, job, lease);
  release(t, job, lease, job.record.cancelled ? ReleaseReason::cancelled : ReleaseReason::work_done);
}

void drop_lease(Turn& t, Job& job, Lease& lease) {
  LeaseId id = lease.id();
  std::erase(job.leases, &lease);
  t.desk.timers.cancel(LeaseDue{id});
  t.fx.erase<BoughtLeaseRecord>(id);
  t.desk.leases.erase(id);
  job.satisfied = false;
}

void on_receipt_missing(Turn& t, Job& job, Lease& lease) {
  Released& released = std::get<Released>(lease.state);
  if (t.now.mono >= released.forget_at) {
    t.warn(job.trace, fmt::format("lease {}: {} never sent its receipt; what it may have owed is not counted",
                                  lease.id().short_string(), lease.record.seller.node.short_string()));
    lose_lease(t, job, lease, "its seller was never heard of again");
    return after_change(t, job);
  }
  ++released.tries;
  released.again_at =
      t.now.mono + std::min(seconds(2) * (std::int64_t{1} << std::min(released.tries, 5u)), seconds(60));
  t.send(job, lease.record.seller, Release{lease.id(), ReleaseReason::work_done});
  if (!lease.attempts.empty()) beat(t, job, lease);
  arm(t, job, lease);
}

void on_receipt(Turn& t, const Contact& from, const TraceContext& trace, const Receipt& receipt) {
  Lease* lease = t.desk.lease(receipt.lease);
  Job* job = lease ? t.desk.job(lease->record.job) : nullptr;
  if (!job) return t.fx.send(from, trace, ReceiptAck{receipt.lease});
  if (lease->record.seller.node != from.node) return;
  if (receipt.job != job->id()) {
    return t.warn(trace, fmt::format("a receipt for lease {} names job {}, which did not buy it",
                                     receipt.lease.short_string(), receipt.job.to_string()));
  }
  touched(t, *job, *lease);
  if (!lease->idle() || std::holds_alternative<Awarded>(lease->state)) {
    // Ends may still be under way; the receipt comes again, and is taken once they are in.
    const auto* live = std::get_if<Live>(&lease->state);
    const bool told_before = lease->released() || (live != nullptr && live->seller_closed);
    if (told_before && asked_lately(t, *lease)) return;
    return told_before ? beat(t, *job, *lease) : ask_about_all(t, *job, *lease);
  }
  settle(t, *job, *lease, receipt);
  after_change(t, *job);
}

void on_release(Turn& t, const Contact& from, const Release& message) {
  Lease* lease = t.desk.lease(message.lease);
  Job* job = lease ? t.desk.job(lease->record.job) : nullptr;
  if (!job || lease->record.seller.node != from.node || lease->released()) return;
  touched(t, *job, *lease);
  ask_about_all(t, *job, *lease);
  after_lease_change(t, *job, *lease);
}

}  // namespace abacus
