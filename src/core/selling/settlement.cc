// Sums in 128 bits, cut to the range of messages at the end.
#include "core/selling/settlement.h"

#include <algorithm>

#include "base/int128.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

Duration between(WallTime from, WallTime to) {
  return {std::clamp<std::int64_t>(to.ns - from.ns, 0, limits::kMaxDurationNs)};
}

Duration bounded_duration(Int128 ns) {
  return {static_cast<std::int64_t>(std::clamp<Int128>(ns, 0, limits::kMaxDurationNs))};
}

Money bounded_money(Int128 micro) {
  return {static_cast<std::int64_t>(std::clamp<Int128>(micro, -limits::kMaxMoneyMicro, limits::kMaxMoneyMicro))};
}

/// As cost_of, for any values. Price x slots is under 2^57 and time under 2^62, so the product cannot overflow.
Int128 cost(Price price, std::uint32_t slots, Duration time) {
  return divide_up(static_cast<Int128>(price.micro_per_s) * slots * time.ns, seconds(1).ns);
}

}  // namespace

void add(Metered& sum, const RunRecord& run) {
  if (!run.started_at) return;
  Done done = done_of(run);
  ++sum.tasks_ended;
  sum.staging = bounded_duration(static_cast<Int128>(sum.staging.ns) + done.staging.ns);
  sum.running = bounded_duration(static_cast<Int128>(sum.running.ns) + done.running.ns);
}

Done done_of(const RunRecord& run) {
  Done done{run.lease, run.attempt, *run.end, {}, {}};
  if (run.started_at) {
    done.staging = between(run.intended_at, *run.started_at);
    done.running = between(*run.started_at, run.end->ended_at);
  }
  return done;
}

Receipt settle(const SoldLeaseRecord& lease, const Metered& metered, WallTime closed_at) {
  Receipt receipt;
  receipt.lease = lease.lease;
  receipt.job = lease.job;
  receipt.slots = lease.slots;
  receipt.tasks_ended = metered.tasks_ended;
  receipt.opened_at = lease.opened_at;
  receipt.closed_at = std::max(closed_at, lease.spans.back().from);
  receipt.reserved =
      bounded_duration(static_cast<Int128>(between(lease.opened_at, receipt.closed_at).ns) * lease.slots);
  receipt.staging = metered.staging;
  receipt.running = metered.running;
  receipt.fees = bounded_money(static_cast<Int128>(lease.fee.micro) * metered.tasks_ended);
  Int128 owed = receipt.fees.micro;
  for (std::size_t i = 0; i < lease.spans.size(); ++i) {
    WallTime end = i + 1 < lease.spans.size() ? lease.spans[i + 1].from : receipt.closed_at;
    owed += cost(lease.spans[i].price, lease.slots, between(lease.spans[i].from, end));
  }
  receipt.owed = bounded_money(owed);
  return receipt;
}

void change_price(SoldLeaseRecord& lease, Price price, WallTime at) {
  if (lease.spans.back().price == price) return;
  lease.spans.push_back({std::max(at, lease.spans.back().from), price});
}

}  // namespace abacus
