// How leases end: closing, settlement, repetition until acknowledged, and the timers that see to it.
#include <algorithm>

#include "base/int128.h"
#include "core/selling/leases.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

Money bounded_sum(Money a, Money b) {
  return {static_cast<std::int64_t>(
      std::clamp<Int128>(static_cast<Int128>(a.micro) + b.micro, -limits::kMaxMoneyMicro, limits::kMaxMoneyMicro))};
}

}  // namespace

void Leases::close(SoldLease& lease, LeaseClosing closing, Now now, Effects& fx) {
  Duration grace = std::min(lease.record.work.grace, config_.grace_max);
  closing.give_up_at = now.mono + grace + config_.close_margin;
  lease.phase = closing;
  lease.interrupt_all(closing.kind, now, fx);
  if (lease.ended_unacknowledged() > 0) expect_ack(lease, now);
  watch(lease, now);
  follow(lease, now, fx);
}

void Leases::follow(SoldLease& lease, Now now, Effects& fx) {
  if (lease.busy() > 0) return;
  const auto* open = std::get_if<LeaseOpen>(&lease.phase);
  if (open != nullptr && open->extended) {
    close(lease, {ReleaseReason::lease_ended, false, EndKind::interrupted, {}}, now, fx);
  } else if (std::holds_alternative<LeaseClosing>(lease.phase)) {
    settle(lease, now, fx);
  }
}

void Leases::settle(SoldLease& lease, Now now, Effects& fx) {
  LeaseClosing closing = std::get<LeaseClosing>(lease.phase);
  SoldLeaseRecord& record = lease.record;
  // Time in which the seller was away and the lease long over is not the buyer's to pay.
  WallTime closed_at = std::min(now.wall, record.until + config_.disconnected_extension);
  record.receipt = abacus::settle(record, lease.metered(), closed_at);
  lease.phase = LeaseClosed{};
  fx.put(record);
  fx.put(ReceiptRecord{*record.receipt, self_, record.buyer.node});
  room_.release(record.bundle, record.slots, record.devices);
  --open_;
  --buyers_.at(record.buyer.node).open;
  earned_ = bounded_sum(earned_, record.receipt->owed);
  mean_hold_.add(record.receipt->closed_at - record.opened_at);
  if (!closing.by_buyer) fx.after_commit(Send{record.buyer, lease.trace, Release{record.lease, closing.reason}});
  lease.send_receipt(fx);
  if (lease.attempts().empty()) close_at_executor(lease, fx);
  lease.resends = 0;
  expect_ack(lease, now);
  watch(lease, now);
}

void Leases::close_at_executor(SoldLease& lease, Effects& fx) {
  auto& closed = std::get<LeaseClosed>(lease.phase);
  if (closed.executor_closed) return;
  closed.executor_closed = true;
  fx.after_commit(CloseLease{lease.record.lease});
}

void Leases::forget_attempt(SoldLease& lease, const AttemptId& attempt, Effects& fx) {
  if (!lease.forget(attempt, fx)) return;
  attempts_.erase(attempt);
  past_attempts_.insert({lease.record.lease, attempt});
}

void Leases::forget_if_done(SoldLease& lease, Effects& fx) {
  const auto* closed = std::get_if<LeaseClosed>(&lease.phase);
  if (closed == nullptr || !lease.attempts().empty()) return;
  if (closed->receipt_acked) {
    forget(lease, fx);
  } else {
    close_at_executor(lease, fx);
  }
}

void Leases::forget(SoldLease& lease, Effects& fx) {
  LeaseId id = lease.record.lease;
  while (!lease.attempts().empty()) forget_attempt(lease, AttemptId{lease.attempts().begin()->first}, fx);
  close_at_executor(lease, fx);
  fx.erase<SoldLeaseRecord>(id);
  timers_.cancel({id, false});
  timers_.cancel({id, true});
  auto buyer = buyers_.find(lease.record.buyer.node);
  if (--buyer->second.all == 0) buyers_.erase(buyer);
  past_leases_.insert(id);
  leases_.erase(id);
}

// ---- timers ---------------------------------------------------------------------------------------------------------

void Leases::on_wake(Now now, Effects& fx) {
  while (std::optional<Timer> timer = timers_.take_due(now.mono)) {
    SoldLease* lease = at(timer->lease);
    if (lease == nullptr) continue;
    if (timer->resend) {
      resend(*lease, now, fx);
    } else {
      check(*lease, now, fx);
    }
  }
}

void Leases::check(SoldLease& lease, Now now, Effects& fx) {
  if (std::holds_alternative<LeaseOpen>(lease.phase)) return check_open(lease, now, fx);
  if (const auto* closing = std::get_if<LeaseClosing>(&lease.phase)) {
    if (now.mono >= closing->give_up_at) {
      lease.abandon_all(closing->kind, "its end was not reported in time", now, fx);
      settle(lease, now, fx);
      close_at_executor(lease, fx);
      return;
    }
  } else if (now.wall - lease.record.receipt->closed_at >= config_.kept_for) {
    return forget(lease, fx);
  }
  watch(lease, now);
}

void Leases::check_open(SoldLease& lease, Now now, Effects& fx) {
  auto& open = std::get<LeaseOpen>(lease.phase);
  bool idle = lease.live() == 0 && now.mono - std::max(lease.idle_since, lease.last_word) >= config_.idle_release;
  bool over = now.wall >= lease.record.until;
  bool may_extend = over && lease.busy() > 0 && (open.extended || out_of_sight(lease, now)) &&
                    now.wall < lease.record.until + config_.disconnected_extension;
  if (idle || (over && !may_extend)) {
    return close(lease, {ReleaseReason::lease_ended, false, EndKind::interrupted, {}}, now, fx);
  }
  open.extended = over;
  watch(lease, now);
}

bool Leases::out_of_sight(const SoldLease& lease, Now now) const {
  return !lease.heard || now.mono - lease.last_word >= config_.silent_after;
}

MonoTime Leases::due(const SoldLease& lease, Now now) const {
  auto in_mono = [&](WallTime at) { return now.mono + (at - now.wall); };
  if (const auto* closing = std::get_if<LeaseClosing>(&lease.phase)) return closing->give_up_at;
  if (lease.record.receipt) return in_mono(lease.record.receipt->closed_at + config_.kept_for);
  bool extended = std::get<LeaseOpen>(lease.phase).extended;
  WallTime end = lease.record.until + (extended ? config_.disconnected_extension : Duration{});
  // With work in it a lease is looked at now and then only, which is cheaper than a timer for each end of a task.
  MonoTime idle = lease.live() > 0 ? now.mono : std::max(lease.idle_since, lease.last_word);
  return std::min(in_mono(end), idle + config_.idle_release);
}

void Leases::watch(const SoldLease& lease, Now now) {
  timers_.set({lease.record.lease, false}, std::max(due(lease, now), now.mono + milliseconds(1)));
}

void Leases::expect_ack(SoldLease& lease, Now now) {
  if (!timers_.contains({lease.record.lease, true})) set_resend(lease, now);
}

void Leases::set_resend(const SoldLease& lease, Now now) {
  Duration wait = config_.resend_first;
  for (std::uint32_t i = 0; i < lease.resends && wait < config_.resend_max; ++i) wait = wait * 2;
  wait = std::min(wait, config_.resend_max);
  timers_.set({lease.record.lease, true}, now.mono + Duration{prng_.between(wait.ns / 2, wait.ns)});
}

void Leases::resend(SoldLease& lease, Now now, Effects& fx) {
  constexpr int kAtOnce = 256;
  const auto* closed = std::get_if<LeaseClosed>(&lease.phase);
  bool owes_receipt = closed != nullptr && !closed->receipt_acked;
  if (lease.ended_unacknowledged() == 0 && !owes_receipt) return;
  auto next = lease.attempts().upper_bound(lease.resend_after);
  std::size_t left = std::min<std::size_t>(lease.attempts().size(), kAtOnce);
  for (; left > 0; --left, ++next) {
    if (next == lease.attempts().end()) next = lease.attempts().begin();
    lease.send_done(next->first, fx);
    lease.resend_after = next->first;
  }
  if (owes_receipt) lease.send_receipt(fx);
  ++lease.resends;
  expect_ack(lease, now);
}

}  // namespace abacus
