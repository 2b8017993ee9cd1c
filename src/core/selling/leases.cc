// Conversations about leases. Whatever was promised is answered from records, so repeats and losses are harmless.
#include "core/selling/leases.h"

#include <algorithm>

#include "base/check.h"

namespace abacus {
namespace {

EndKind kind_for(ReleaseReason reason) {
  bool by_choice = reason == ReleaseReason::work_done || reason == ReleaseReason::cancelled ||
                   reason == ReleaseReason::unknown_lease;
  return by_choice ? EndKind::cancelled : EndKind::interrupted;
}

}  // namespace

Leases::Leases(const SellingConfig& config, const NodeId& self, Room& room, Prng prng)
    : config_(config), self_(self), room_(room), prng_(prng) {}

SoldLease* Leases::at(const LeaseId& lease) {
  auto found = leases_.find(lease);
  return found == leases_.end() ? nullptr : &found->second;
}

const SoldLease* Leases::find(const NodeId& buyer, const LeaseId& lease) const {
  auto found = leases_.find(lease);
  return found == leases_.end() || found->second.record.buyer.node != buyer ? nullptr : &found->second;
}

SoldLease* Leases::word_from(const Contact& from, const LeaseId& id, Now now) {
  SoldLease* lease = at(id);
  if (lease == nullptr || lease->record.buyer.node != from.node) return nullptr;
  lease->last_word = now.mono;
  lease->heard = true;
  // Somebody listens again: what was repeated ever more rarely is due soon.
  if (lease->resends > 2) {
    lease->resends = 0;
    set_resend(*lease, now);
  }
  return lease;
}

void Leases::report(const Contact& to, const TraceContext& trace, const LeaseId& id, const SoldLease* lease,
                    const std::vector<AttemptId>& attempts, Effects& fx) {
  LeaseReport report{id, lease != nullptr, {}};
  for (const AttemptId& attempt : attempts) {
    report.attempts.push_back({attempt, lease != nullptr ? lease->state(attempt) : AttemptState::unknown});
  }
  fx.send(lease != nullptr ? lease->record.buyer : to, trace, std::move(report));
}

// ---- trade ----------------------------------------------------------------------------------------------------------

bool Leases::may_open(const NodeId& buyer, const LeaseId& lease) const {
  if (leases_.contains(lease) || past_leases_.contains(lease)) return false;
  auto known = buyers_.find(buyer);
  return known == buyers_.end() || known->second.all < config_.leases_per_buyer_max;
}

void Leases::count_in(const SoldLease& lease) {
  Buyer& buyer = buyers_[lease.record.buyer.node];
  buyer.contact = lease.record.buyer;
  ++buyer.all;
  if (lease.record.receipt) return;
  ++buyer.open;
  ++open_;
}

void Leases::open(SoldLeaseRecord record, const std::vector<AttemptId>& attempts, const TraceContext& trace, Now now,
                  Effects& fx) {
  CHECK(may_open(record.buyer.node, record.lease));
  LeaseId id = record.lease;
  SoldLease& lease = leases_.try_emplace(id, std::move(record), trace, config_.grace_max).first->second;
  lease.last_word = lease.idle_since = now.mono;
  lease.heard = true;
  count_in(lease);
  fx.put(lease.record);
  fx.after_commit(
      OpenLease{id, lease.record.buyer.node, lease.record.slots, lease.record.until + config_.disconnected_extension});
  fx.send(lease.record.buyer, trace, Accept{id, lease.record.slots, lease.record.until - now.wall});
  add(lease, attempts);
  lease.advance(now, fx);
  watch(lease, now);
}

bool Leases::repeat(const Award& award, const NodeId& buyer, Now now, Effects& fx) {
  SoldLease* lease = at(award.lease);
  if (lease == nullptr || lease->record.buyer.node != buyer) return false;
  lease->last_word = now.mono;
  lease->heard = true;
  if (lease->record.receipt) {
    lease->send_receipt(fx);
    return true;
  }
  Duration rest = std::max(lease->record.until - now.wall, Duration{});
  fx.send(lease->record.buyer, lease->trace, Accept{award.lease, lease->record.slots, rest});
  if (std::holds_alternative<LeaseOpen>(lease->phase)) {
    add(*lease, award.attempts);
    lease->advance(now, fx);
  }
  return true;
}

std::vector<AttemptId> Leases::add(SoldLease& lease, const std::vector<AttemptId>& attempts) {
  std::vector<AttemptId> refused;
  for (const AttemptId& attempt : attempts) {
    if (lease.has(attempt) || past_attempts_.contains({lease.record.lease, attempt})) continue;
    bool taken_on = attempt.task.job == lease.record.job && lease.attempts().size() < config_.attempts_per_lease_max &&
                    attempts_.try_emplace(attempt, lease.record.lease).second;
    if (taken_on) {
      lease.add(attempt);
    } else {
      refused.push_back(attempt);
    }
  }
  return refused;
}

// ---- messages -------------------------------------------------------------------------------------------------------

void Leases::on(const Contact& from, const TraceContext& trace, const Start& start, Now now, Effects& fx) {
  SoldLease* lease = word_from(from, start.lease, now);
  if (lease == nullptr || !std::holds_alternative<LeaseOpen>(lease->phase)) {
    report(from, trace, start.lease, lease, start.attempts, fx);
    if (lease != nullptr) lease->send_receipt(fx);
    return;
  }
  std::vector<AttemptId> refused = add(*lease, start.attempts);
  lease->advance(now, fx);
  if (!refused.empty()) report(from, trace, start.lease, lease, refused, fx);
}

void Leases::on(const Contact& from, const TraceContext&, const DoneAck& ack, Now now, Effects& fx) {
  SoldLease* lease = word_from(from, ack.lease, now);
  if (lease == nullptr) return;
  std::size_t before = lease->ended_unacknowledged();
  for (const AttemptId& attempt : ack.attempts) forget_attempt(*lease, attempt, fx);
  if (lease->ended_unacknowledged() == before) return;
  lease->resends = 0;
  if (!lease->record.receipt) fx.put(lease->record);
  forget_if_done(*lease, fx);
}

void Leases::on(const Contact& from, const TraceContext& trace, const Interrupt& interrupt, Now now, Effects& fx) {
  SoldLease* lease = word_from(from, interrupt.lease, now);
  std::vector<AttemptId> unknown;
  for (const AttemptId& attempt : interrupt.attempts) {
    if (lease == nullptr || !lease->has(attempt)) {
      unknown.push_back(attempt);
      // The interruption may have overtaken the start, which must not run it then.
      if (lease != nullptr) past_attempts_.insert({interrupt.lease, attempt});
      continue;
    }
    if (lease->state(attempt) == AttemptState::ended) lease->send_done(attempt, fx);
    lease->interrupt(attempt, std::min(interrupt.grace, config_.grace_max), EndKind::cancelled, now, fx);
  }
  if (!unknown.empty()) report(from, trace, interrupt.lease, lease, unknown, fx);
  if (lease == nullptr) return;
  if (lease->ended_unacknowledged() > 0) expect_ack(*lease, now);
  follow(*lease, now, fx);
}

void Leases::on(const Contact& from, const TraceContext& trace, const LeaseBeat& beat, Now now, Effects& fx) {
  SoldLease* lease = word_from(from, beat.lease, now);
  report(from, trace, beat.lease, lease, beat.attempts, fx);
  if (lease == nullptr) return;
  for (const AttemptId& attempt : beat.attempts) lease->send_done(attempt, fx);
  lease->send_receipt(fx);
}

void Leases::on(const Contact& from, const TraceContext& trace, const Release& release, Now now, Effects& fx) {
  SoldLease* lease = word_from(from, release.lease, now);
  if (lease == nullptr) return report(from, trace, release.lease, nullptr, {}, fx);
  if (auto* closing = std::get_if<LeaseClosing>(&lease->phase)) {
    closing->by_buyer = true;
  } else if (std::holds_alternative<LeaseOpen>(lease->phase)) {
    close(*lease, {release.reason, true, kind_for(release.reason), {}}, now, fx);
  } else {
    lease->send_receipt(fx);
  }
}

void Leases::on(const Contact& from, const TraceContext&, const ReceiptAck& ack, Now now, Effects& fx) {
  SoldLease* lease = word_from(from, ack.lease, now);
  if (lease == nullptr) return;
  auto* closed = std::get_if<LeaseClosed>(&lease->phase);
  if (closed == nullptr) return;
  closed->receipt_acked = true;
  forget_if_done(*lease, fx);
}

void Leases::renew(const Contact& from, const TraceContext& trace, const Renew& renew, std::optional<Price> price,
                   Now now, Effects& fx) {
  SoldLease* lease = word_from(from, renew.lease, now);
  if (lease == nullptr) return report(from, trace, renew.lease, nullptr, {}, fx);
  auto* open = std::get_if<LeaseOpen>(&lease->phase);
  SoldLeaseRecord& record = lease->record;
  if (renew.round != 0 && renew.round < record.renewal_round) return;
  if (renew.round != 0 && renew.round == record.renewal_round) {
    Duration rest = open != nullptr ? std::max(record.until - now.wall, Duration{}) : Duration{};
    return fx.after_commit(
        Send{record.buyer, trace, Renewed{renew.lease, rest, record.spans.back().price, renew.round}});
  }
  bool extendable = open != nullptr && price && record.spans.size() < config_.spans_max &&
                    renew.lease_time > Duration{} && renew.lease_time <= config_.lease_time_max;
  if (!extendable)
    return fx.send(record.buyer, trace, Renewed{renew.lease, {}, record.spans.back().price, renew.round});
  if (open->offer && open->offer->until <= now.mono) open->offer.reset();
  Price asked = open->offer ? std::min(*price, open->offer->price) : *price;
  if (renew.price && *renew.price < asked) {
    if (!open->offer) open->offer = {asked, now.mono + config_.renewal_offer_for};
    return fx.send(record.buyer, trace, Renewed{renew.lease, {}, asked, renew.round, true});
  }
  extend(*lease, renew, asked, trace, now, fx);
}

void Leases::extend(SoldLease& lease, const Renew& renew, Price price, const TraceContext& trace, Now now,
                    Effects& fx) {
  SoldLeaseRecord& record = lease.record;
  record.until = std::max(record.until, now.wall + renew.lease_time);
  record.renewal_round = std::max(record.renewal_round, renew.round);
  change_price(record, price, now.wall);
  lease.phase = LeaseOpen{};
  fx.put(record);
  fx.after_commit(ExtendLease{renew.lease, record.until + config_.disconnected_extension});
  fx.after_commit(Send{record.buyer, trace, Renewed{renew.lease, record.until - now.wall, price, renew.round}});
  lease.advance(now, fx);
  watch(lease, now);
}

// ---- reports of the executor ----------------------------------------------------------------------------------------

void Leases::on(const InputsStaged& staged, Now now, Effects& fx) {
  SoldLease* lease = at(staged.lease);
  if (lease == nullptr) return;
  lease->staged(staged.attempt, staged.problem, now, fx);
  if (lease->ended_unacknowledged() > 0) expect_ack(*lease, now);
}

void Leases::on(const ProcessStarted& started, Now, Effects& fx) {
  SoldLease* lease = at(started.lease);
  if (lease != nullptr && lease->started(started.attempt, started.at, fx)) ++processes_started_;
}

void Leases::on(const ProcessEnded& ended, Now now, Effects& fx) {
  SoldLease* lease = at(ended.lease);
  if (lease == nullptr || !lease->ended(ended.attempt, ended.end, now, fx)) return;
  ++processes_ended_;
  Duration ran{std::clamp<std::int64_t>(ended.end.ended_at.ns - ended.end.started_at.ns, 0, hours(24).ns)};
  if (ended.end.started_at.ns != 0) mean_run_.add(ran);
  expect_ack(*lease, now);
  follow(*lease, now, fx);
}

void Leases::on(const LeaseProcessLost& lost, Now now, Effects& fx) {
  SoldLease* lease = at(lost.lease);
  if (lease == nullptr || lease->record.receipt) return;
  lease->abandon_all(EndKind::lost, "the process that watched it died: " + lost.reason, now, fx);
  close(*lease, {ReleaseReason::broken, false, EndKind::lost, {}}, now, fx);
}

// ---- snapshots ------------------------------------------------------------------------------------------------------

std::vector<SoldLeaseView> Leases::views() const {
  std::vector<SoldLeaseView> views;
  for (const auto& [id, lease] : leases_) {
    const SoldLeaseRecord& record = lease.record;
    views.push_back({id, record.job, record.buyer.node, record.bundle, record.slots, lease.busy(),
                     record.spans.back().price, record.opened_at, record.until, record.receipt.has_value()});
  }
  return views;
}

std::vector<Contact> Leases::counterparties() const {
  std::vector<Contact> contacts;
  for (const auto& [node, buyer] : buyers_) {
    if (buyer.open > 0) contacts.push_back(buyer.contact);
  }
  return contacts;
}

Duration Leases::next_end_in() const {
  return open_ == 0 ? Duration{} : mean_hold_.value() / static_cast<std::int64_t>(open_);
}

}  // namespace abacus
