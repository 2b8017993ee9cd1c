// All leases of a seller: who may say what about which, when each ends, and what is repeated until it is acknowledged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "core/model/effects.h"
#include "core/model/timer_queue.h"
#include "core/model/views.h"
#include "core/selling/recent.h"
#include "core/selling/room.h"
#include "core/selling/selling_config.h"
#include "core/selling/sold_lease.h"

namespace abacus {

/// A mean that forgets: the latest value counts an eighth. Zero before the first.
class SmoothedDuration {
 public:
  void add(Duration value) { mean_ = mean_.ns == 0 ? value : mean_ + (value - mean_) / 8; }
  Duration value() const { return mean_; }

 private:
  Duration mean_;
};

/// Messages about a lease count only if they come from its buyer; to anybody else there is no such lease. Nothing here
/// costs time in proportion to the number of leases, but for restarts and snapshots.
class Leases {
 public:
  /// `room` must outlive this.
  Leases(const SellingConfig& config, const NodeId& self, Room& room, Prng prng);

  // ---- after a restart (adoption.cc) ----
  /// In any order, all before restored.
  void restore(const SoldLeaseRecord& record);
  void restore(const RunRecord& record);
  void restored(Now now, Effects& fx);
  /// What the executor found: the journal and it are made to agree.
  void on(const RunsAdopted& adopted, Now now, Effects& fx);

  // ---- trade ----
  /// May this buyer open a lease of this name? Not if it exists or existed, or if too much is unsettled.
  bool may_open(const NodeId& buyer, const LeaseId& lease) const;
  /// Records the lease, whose slots the room holds already, accepts the award and starts its attempts. Requires
  /// may_open.
  void open(SoldLeaseRecord record, const std::vector<AttemptId>& attempts, const TraceContext& trace, Now now,
            Effects& fx);
  /// An award seen before gets the answer it got before. False if there is no such lease of that buyer.
  bool repeat(const Award& award, const NodeId& buyer, Now now, Effects& fx);

  // ---- messages ----
  void on(const Contact& from, const TraceContext& trace, const Start& start, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const DoneAck& ack, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Interrupt& interrupt, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const LeaseBeat& beat, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Release& release, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const ReceiptAck& ack, Now now, Effects& fx);
  /// `price` is that of the day; none: no extension. A buyer that named less is offered it; nothing changes until it
  /// names that.
  void renew(const Contact& from, const TraceContext& trace, const Renew& renew, std::optional<Price> price, Now now,
             Effects& fx);

  // ---- reports of the executor ----
  void on(const InputsStaged& staged, Now now, Effects& fx);
  void on(const ProcessStarted& started, Now now, Effects& fx);
  void on(const ProcessEnded& ended, Now now, Effects& fx);
  void on(const LeaseProcessLost& lost, Now now, Effects& fx);

  std::optional<MonoTime> next_wake() const { return timers_.next(); }
  void on_wake(Now now, Effects& fx);

  /// Null if there is none, or it is another buyer's.
  const SoldLease* find(const NodeId& buyer, const LeaseId& lease) const;
  std::vector<SoldLeaseView> views() const;
  /// Buyers of leases that are not settled yet.
  std::vector<Contact> counterparties() const;
  Money earned() const { return earned_; }
  std::uint64_t processes_started() const { return processes_started_; }
  std::uint64_t processes_ended() const { return processes_ended_; }
  /// Smoothed run time of processes; zero before the first end.
  Duration mean_run() const { return mean_run_.value(); }
  /// When a lease may be expected to end, by how long they lasted so far; zero: unknown.
  Duration next_end_in() const;

 private:
  struct Timer {
    LeaseId lease;
    bool resend = false;
    auto operator<=>(const Timer&) const = default;
  };
  struct Buyer {
    Contact contact;
    std::size_t open = 0;  ///< Leases not settled.
    std::size_t all = 0;   ///< Those whose receipt is not acknowledged too.
  };
  using Map = std::map<LeaseId, SoldLease>;

  SoldLease* word_from(const Contact& from, const LeaseId& lease, Now now);
  SoldLease* at(const LeaseId& lease);
  void count_in(const SoldLease& lease);
  /// The attempts that could not be taken on.
  std::vector<AttemptId> add(SoldLease& lease, const std::vector<AttemptId>& attempts);
  void report(const Contact& to, const TraceContext& trace, const LeaseId& id, const SoldLease* lease,
              const std::vector<AttemptId>& attempts, Effects& fx);

  void close(SoldLease& lease, LeaseClosing closing, Now now, Effects& fx);
  /// Takes the steps that follow from attempts having ended.
  void follow(SoldLease& lease, Now now, Effects& fx);
  void settle(SoldLease& lease, Now now, Effects& fx);
  void extend(SoldLease& lease, const Renew& renew, Price price, const TraceContext& trace, Now now, Effects& fx);
  void forget_attempt(SoldLease& lease, const AttemptId& attempt, Effects& fx);
  void forget_if_done(SoldLease& lease, Effects& fx);
  void forget(SoldLease& lease, Effects& fx);
  void close_at_executor(SoldLease& lease, Effects& fx);

  void check(SoldLease& lease, Now now, Effects& fx);
  void check_open(SoldLease& lease, Now now, Effects& fx);
  bool out_of_sight(const SoldLease& lease, Now now) const;
  MonoTime due(const SoldLease& lease, Now now) const;
  void watch(const SoldLease& lease, Now now);
  void resend(SoldLease& lease, Now now, Effects& fx);
  void expect_ack(SoldLease& lease, Now now);
  void set_resend(const SoldLease& lease, Now now);
  void hold_restored(SoldLease& lease, Now now);
  void adopt(SoldLease& lease, const std::vector<AdoptedAttempt>& attempts, Now now, Effects& fx);

  const SellingConfig& config_;
  NodeId self_;
  Room& room_;
  Prng prng_;
  Map leases_;
  std::map<AttemptId, LeaseId> attempts_;  ///< An attempt is in one lease: its record is named by it alone.
  std::map<NodeId, Buyer> buyers_;
  TimerQueue<Timer> timers_;
  Recent<LeaseId> past_leases_{4'096};
  Recent<std::pair<LeaseId, AttemptId>> past_attempts_{16'384};
  std::vector<RunRecord> restored_runs_;
  std::size_t open_ = 0;
  Money earned_;
  SmoothedDuration mean_run_;
  SmoothedDuration mean_hold_;
  std::uint64_t processes_started_ = 0;
  std::uint64_t processes_ended_ = 0;
};

}  // namespace abacus
