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

/// From now on the lease costs `price`, as far as this side knows.
void change_price(Turn& t, Lease& lease, Price price) {
  BoughtLeaseRecord& record = lease.record;
  record.owed_before = difference(lease.owed_by(t.now.wall), times(record.fee, lease.fees_charged));
  record.price_since = t.now.wall;
  record.price = price;
}

void send_question(Turn& t, const Job& job, Lease& lease, Live& live) {
  live.renew_at = t.now.mono + std::max(t.desk.config.doubt_after, lease.round_trip * 4);
  Renew question{lease.id(), *live.renewal_until - t.now.mono, lease.record.price, lease.record.renewal_round};
  t.fx.after_commit(Send{lease.record.seller, job.trace, question});
}

/// A price named is a price agreed to, whether or not the answer is heard: it counts from here on.
void ask(Turn& t, Job& job, Lease& lease, Price price) {
  Live& live = std::get<Live>(lease.state);
  Duration rest = live.ends_at - t.now.mono;
  Duration wanted = lease_time_for(t, job, lease.record.slots);
  Duration time = affordable_time(t, job, lease, price, wanted);
  if (time <= rest + rest / 8) {
    // Not worth asking yet, or the budget ends with this lease: then no task starts whose run time is unknown.
    if (time < wanted && job.run() <= Duration{}) live.closing = true;
    if (rest > t.desk.config.doubt_after) live.renew_at = t.now.mono + rest / 2;
    return;
  }
  change_price(t, lease, price);
  live.renewal_until = t.now.mono + time;
  lease.reserve = most_cost(price, lease.record.slots, time - rest);
  ++lease.record.renewal_round;
  lease.record.renewal_until = std::max(lease.record.renewal_until, t.now.wall + time);
  t.fx.put(lease.record);
  send_question(t, job, lease, live);
}

/// The seller wants more than was named. One such offer is taken up at once, if the budget bears it; whoever makes
/// another to that waits.
void take_up(Turn& t, Job& job, Lease& lease, Live& live, Price price) {
  if (live.price_raised || price <= lease.record.price) {
    live.renew_at = t.now.mono + t.desk.config.doubt_after;
    return;
  }
  live.price_raised = true;
  ask(t, job, lease, price);
}

void extend(Turn& t, Job& job, Lease& lease, Live& live, Price price, Duration given) {
  Duration affordable = affordable_time(t, job, lease, price, given);
  change_price(t, lease, price);
  set_end(t, lease, live, affordable);
  live.cut = live.closing = affordable < given;
  if (live.cut) live.renew_at.reset();
  t.fx.put(lease.record);
  feed(t, job, lease);
}

}  // namespace

void renew(Turn& t, Job& job, Lease& lease) {
  Live& live = std::get<Live>(lease.state);
  live.renew_at.reset();
  bool work_left = !job.pending.empty() || !lease.attempts.empty();
  if (!work_left || live.seller_closed || t.now.mono >= live.ends_at) return;
  if (live.renewal_until) return send_question(t, job, lease, live);
  live.price_raised = false;
  ask(t, job, lease, lease.record.price);
}

void on_renewed(Turn& t, const Contact& from, const Renewed& renewed) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  Lease* lease = t.desk.lease(renewed.lease);
  Job* job = lease ? t.desk.job(lease->record.job) : nullptr;
  auto* live = lease ? std::get_if<Live>(&lease->state) : nullptr;
  if (!job || !live || lease->record.seller.node != from.node || !live->renewal_until) return;
  // Sellers that count no rounds answer with zero.
  if (renewed.round != 0 && renewed.round != lease->record.renewal_round) return;
  touched(t, *job, *lease);
  MonoTime asked_until = *std::exchange(live->renewal_until, std::nullopt);
  lease->reserve = {};
  live->renew_at.reset();
  Duration given = std::min(renewed.lease_time, std::max(asked_until, live->ends_at) - t.now.mono);
  const bool sane = std::abs(renewed.price.micro_per_s) <= kMost;
  if (sane && renewed.offered) {
    take_up(t, *job, *lease, *live, renewed.price);
  } else if (sane && given > Duration{}) {
    extend(t, *job, *lease, *live, renewed.price, given);
  } else {
    live->closing = true;
  }
  job->satisfied = false;
  after_lease_change(t, *job, *lease);
  if (lease->live()) arm(t, *job, *lease);
}

}  // namespace abacus
