// Renewal of leases.
#include "core/buying/renewal.h"

#include <algorithm>

#include "core/buying/amounts.h"
#include "core/buying/custody.h"
#include "core/buying/negotiation.h"
#include "core/buying/streaming.h"
#include "core/buying/watch.h"

namespace abacus {
namespace {

/// How much of `time` from now on the budget allows at `price`, counting what is committed for the lease already.
Duration affordable_time(const Turn& t, const Job& job, const Lease& lease, Price price, Duration time) {
  std::optional<Money> left = job.left();
  Int128 rate = static_cast<Int128>(price.micro_per_s) * lease.record.slots;
  if (!left || rate <= 0) return time;
  Money rest_committed = difference(lease.committed(), lease.owed_by(t.now.wall));
  // Two parts of the time are rounded up apart: one micro-credit is kept for that.
  Money free = difference(sum(*left, rest_committed), micro_credits(1));
  Int128 ns = static_cast<Int128>(std::max<std::int64_t>(free.micro, 0)) * 1'000'000'000 / rate;
  return std::min(time, Duration{static_cast<std::int64_t>(std::min<Int128>(ns, time.ns))});
}

void set_end(Turn& t, Lease& lease, Live& live, Duration rest) {
  lease.record.until = t.now.wall + rest;
  live.ends_at = t.now.mono + rest;
  live.renew_at = t.now.mono + rest * 2 / 3;
}

}  // namespace

void renew(Turn& t, Job& job, Lease& lease) {
  Live& live = std::get<Live>(lease.state);
  live.renew_at.reset();
  bool work_left = !job.pending.empty() || !lease.attempts.empty();
  if (!work_left || live.seller_closed || t.now.mono >= live.ends_at) return;
  Duration rest = live.ends_at - t.now.mono;
  Duration wanted = lease_time_for(t, job, lease.record.slots);
  Duration time = affordable_time(t, job, lease, lease.record.price, wanted);
  if (time <= rest + rest / 8) {
    // Not worth asking yet, or the budget ends with this lease: then no task starts whose run time is unknown.
    if (time < wanted && job.run() <= Duration{}) live.closing = true;
    if (rest > t.desk.config.doubt_after) live.renew_at = t.now.mono + rest / 2;
    return;
  }
  live.renewal_asked = time;
  lease.reserve = most_cost(lease.record.price, lease.record.slots, time - rest);
  live.renew_at = t.now.mono + std::max(t.desk.config.doubt_after, lease.round_trip * 4);
  t.send(job, lease.record.seller, Renew{lease.id(), time});
}

void on_renewed(Turn& t, const Contact& from, const Renewed& renewed) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  Lease* lease = t.desk.lease(renewed.lease);
  Job* job = lease ? t.desk.job(lease->record.job) : nullptr;
  auto* live = lease ? std::get_if<Live>(&lease->state) : nullptr;
  if (!job || !live || lease->record.seller.node != from.node || live->renewal_asked == Duration{}) return;
  touched(t, *job, *lease);
  Duration asked = std::exchange(live->renewal_asked, Duration{});
  lease->reserve = {};
  live->renew_at.reset();
  Duration rest = std::max(live->ends_at - t.now.mono, Duration{});
  Duration given = std::min(renewed.lease_time, std::max(asked, rest));
  if (given <= Duration{} || std::abs(renewed.price.micro_per_s) > kMost) {
    live->closing = true;
    job->satisfied = false;
    return after_lease_change(t, *job, *lease);
  }
  Duration affordable = affordable_time(t, *job, *lease, renewed.price, given);
  lease->record.owed_before = difference(lease->owed_by(t.now.wall), times(lease->record.fee, lease->fees_charged));
  lease->record.price_since = t.now.wall;
  lease->record.price = renewed.price;
  set_end(t, *lease, *live, affordable);
  live->cut = live->closing = affordable < given;
  if (live->cut) live->renew_at.reset();
  t.fx.put(lease->record);
  job->satisfied = false;
  feed(t, *job, *lease);
  after_lease_change(t, *job, *lease);
  if (lease->live()) arm(t, *job, *lease);
}

}  // namespace abacus
