// Routing: the desk prices, the leases run, and the room between them is told here.
#include "core/selling/selling.h"

#include <algorithm>
#include <utility>

#include "base/fixed.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

Prng derive(Prng& prng) { return Prng(prng.next()); }

}  // namespace

Selling::Selling(const SellingConfig& config, const PricingConfig& pricing, const Contact& self, const OrgId&,
                 std::string region, Capacity capacity, Prng prng, std::uint32_t multiplier_permille)
    : config_(config),
      room_(std::move(capacity)),
      desk_(config_, pricing, std::move(region), room_, derive(prng), multiplier_permille),
      leases_(config_, self.node, room_, derive(prng)) {}

void Selling::restored(Now now, Effects& fx) {
  leases_.restored(now, fx);
  follow(now, fx);
}

void Selling::follow(Now now, Effects& fx) {
  if (!room_.take_changed()) return;
  desk_.set_pace(leases_.mean_run());
  desk_.observe(now);
  if (room_.take_freed()) call_back(now, fx);
}

void Selling::call_back(Now now, Effects& fx) {
  if (takes_work()) {
    desk_.serve_waiting(leases_.next_end_in(), now, fx);
  } else {
    desk_.stop_serving();
  }
}

// ---- trade ----------------------------------------------------------------------------------------------------------

void Selling::on(const Contact& from, const TraceContext& trace, const Rfq& rfq, const std::vector<OfferRef>& referrals,
                 Now now, Effects& fx) {
  QuoteDesk::Answer answer = DeclineDetail{DeclineReason::draining, {}, {}, 0, {}};
  if (takes_work()) answer = desk_.answer(from, rfq, leases_.next_end_in(), now);
  if (auto* quote = std::get_if<Quote>(&answer)) {
    fx.send(from, trace, std::move(*quote));
    return;
  }
  auto& detail = std::get<DeclineDetail>(answer);
  Decline decline{rfq.negotiation, rfq.round, std::move(detail), {}};
  bool elsewhere =
      decline.detail.reason == DeclineReason::no_room || decline.detail.reason == DeclineReason::never_fits;
  if (elsewhere) {
    std::size_t count = std::min(referrals.size(), limits::kOffersPerShuffle);
    decline.referrals.assign(referrals.begin(), referrals.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (decline.detail.reason == DeclineReason::no_room && !rfq.plan_only) desk_.call_back_later(from, trace, rfq, now);
  ++declines_sent_;
  fx.send(from, trace, std::move(decline));
}

std::optional<DeclineDetail> Selling::objection(const Contact& from, const Award& award, Now now) {
  DeclineDetail detail;
  detail.reason = DeclineReason::bad_request;
  bool sensible = award.buyer.node == from.node && award.lease_time > Duration{} && award.fee >= Money{} &&
                  award.slots > 0 && award.bundle.cpu_milli > 0 && !award.lease.empty();
  if (!sensible || !leases_.may_open(from.node, award.lease)) return detail;
  detail.reason = DeclineReason::draining;
  if (!takes_work()) return detail;
  return desk_.objection(award, now);
}

void Selling::on(const Contact& from, const OrgId& organisation, const TraceContext& trace, const Award& award, Now now,
                 Effects& fx) {
  if (leases_.repeat(award, from.node, now, fx)) return follow(now, fx);
  if (std::optional<DeclineDetail> detail = objection(from, award, now)) {
    return refuse(from, trace, award, std::move(*detail), now, fx);
  }
  std::uint32_t slots = std::min(award.slots, slots_that_fit(room_.free(), award.bundle));
  if (slots > 0) {
    lease_out(organisation, trace, award, slots, now, fx);
    return follow(now, fx);
  }
  DeclineDetail detail;
  detail.shortfalls = shortfalls(room_.free(), award.bundle);
  detail.free_in = leases_.next_end_in();
  desk_.call_back_later(from, trace, desk_.question_of(award), now);
  refuse(from, trace, award, std::move(detail), now, fx);
}

void Selling::refuse(const Contact& to, const TraceContext& trace, const Award& award, DeclineDetail detail, Now now,
                     Effects& fx) {
  Refuse refuse{award.lease, std::move(detail), {}};
  bool about_price =
      refuse.detail.reason == DeclineReason::quote_expired || refuse.detail.reason == DeclineReason::price_too_low;
  if (about_price) {
    auto answer = desk_.answer(to, desk_.question_of(award), leases_.next_end_in(), now);
    if (auto* quote = std::get_if<Quote>(&answer)) refuse.fresh = std::move(*quote);
  }
  fx.send(to, trace, std::move(refuse));
}

void Selling::lease_out(const OrgId& organisation, const TraceContext& trace, const Award& award, std::uint32_t slots,
                        Now now, Effects& fx) {
  SoldLeaseRecord record;
  record.lease = award.lease;
  record.buyer = award.buyer;
  record.buyer_organisation = organisation;
  record.job = award.job;
  record.bundle = award.bundle;
  record.slots = slots;
  record.spans.push_back({now.wall, award.price});
  record.fee = award.fee;
  record.opened_at = now.wall;
  record.until = now.wall + award.lease_time;
  record.work = award.work;
  record.input_bytes = award.input_bytes;
  record.devices = room_.reserve(award.bundle, slots);
  desk_.awarded(award);
  leases_.open(std::move(record), award.attempts, trace, now, fx);
}

void Selling::on(const Contact& from, const TraceContext& trace, const Renew& renew, Now now, Effects& fx) {
  std::optional<Price> price;
  const SoldLease* lease = leases_.find(from.node, renew.lease);
  if (lease != nullptr && takes_work()) price = desk_.present_price(lease->record.bundle, now);
  leases_.renew(from, trace, renew, price, now, fx);
  follow(now, fx);
}

// ---- leases ---------------------------------------------------------------------------------------------------------

void Selling::on(const Contact& from, const TraceContext& trace, const Start& start, Now now, Effects& fx) {
  leases_.on(from, trace, start, now, fx);
}

void Selling::on(const Contact& from, const TraceContext& trace, const DoneAck& ack, Now now, Effects& fx) {
  leases_.on(from, trace, ack, now, fx);
}

void Selling::on(const Contact& from, const TraceContext& trace, const Interrupt& interrupt, Now now, Effects& fx) {
  leases_.on(from, trace, interrupt, now, fx);
  follow(now, fx);
}

void Selling::on(const Contact& from, const TraceContext& trace, const LeaseBeat& beat, Now now, Effects& fx) {
  leases_.on(from, trace, beat, now, fx);
}

void Selling::on(const Contact& from, const TraceContext& trace, const Release& release, Now now, Effects& fx) {
  leases_.on(from, trace, release, now, fx);
  follow(now, fx);
}

void Selling::on(const Contact& from, const TraceContext& trace, const ReceiptAck& ack, Now now, Effects& fx) {
  leases_.on(from, trace, ack, now, fx);
}

void Selling::on(const InputsStaged& staged, Now now, Effects& fx) { leases_.on(staged, now, fx); }

void Selling::on(const ProcessStarted& started, Now now, Effects& fx) { leases_.on(started, now, fx); }

void Selling::on(const ProcessEnded& ended, Now now, Effects& fx) {
  leases_.on(ended, now, fx);
  follow(now, fx);
}

void Selling::on(const LeaseProcessLost& lost, Now now, Effects& fx) {
  leases_.on(lost, now, fx);
  follow(now, fx);
}

void Selling::on(const RunsAdopted& adopted, Now now, Effects& fx) {
  leases_.on(adopted, now, fx);
  follow(now, fx);
}

// ---- the node -------------------------------------------------------------------------------------------------------

void Selling::on(const CapacityProbed& probed, Now now, Effects& fx) {
  room_.set_capacity(probed.capacity);
  follow(now, fx);
}

void Selling::on(const Drain& drain, Now now, Effects& fx) {
  draining_ = drain.on;
  if (drain.request != 0) fx.after_commit(Answer{drain.request, Drained{drain.on}});
  call_back(now, fx);
}

void Selling::on(const Leaving&, Now, Effects&) { leaving_ = true; }

std::optional<MonoTime> Selling::next_wake() const {
  std::optional<MonoTime> leases = leases_.next_wake(), desk = desk_.next_wake();
  if (!leases || !desk) return leases ? leases : desk;
  return std::min(*leases, *desk);
}

void Selling::on_wake(Now now, Effects& fx) {
  leases_.on_wake(now, fx);
  follow(now, fx);
  if (std::optional<MonoTime> call = desk_.next_wake(); call && *call <= now.mono) call_back(now, fx);
}

SellingView Selling::view(Now now) const {
  SellingView view;
  view.capacity = room_.capacity();
  view.free = room_.free();
  view.multiplier_permille = multiplier_permille();
  Load load{room_.capacity(), room_.free()};
  view.utilisation_permille =
      static_cast<std::uint32_t>(static_cast<Int128>(utilisation(load).raw) * 1'000 / Fixed::kOne);
  view.cpu_price = desk_.pricing().price(load, Bundle{}, 1, desk_.multiplier().value(), now.wall).price;
  view.draining = draining_;
  view.earned = leases_.earned();
  view.leases = leases_.views();
  return view;
}

Counters Selling::counters() const {
  Counters counters;
  counters.quotes_sent = desk_.quotes_given();
  counters.declines_sent = declines_sent_;
  counters.processes_started = leases_.processes_started();
  counters.processes_ended = leases_.processes_ended();
  return counters;
}

}  // namespace abacus
