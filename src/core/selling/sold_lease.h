// One lease at its seller: the attempts in it, their way through its slots, and what is recorded of both.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "core/model/effects.h"
#include "core/selling/attempt.h"
#include "core/selling/settlement.h"

namespace abacus {

/// A price at which the lease would be renewed, whatever the price of the day is meanwhile.
struct RenewalOffer {
  Price price;
  MonoTime until;
};
/// Takes tasks.
struct LeaseOpen {
  bool extended = false;  ///< Past its end, for the sake of work of a buyer out of sight.
  std::optional<RenewalOffer> offer;
};
/// Ends what runs; nothing new starts.
struct LeaseClosing {
  ReleaseReason reason = ReleaseReason::lease_ended;
  bool by_buyer = false;
  EndKind kind = EndKind::interrupted;  ///< Of the attempts cut short.
  MonoTime give_up_at;                  ///< For ends that the executor does not report.
};
/// Settled; waits for acknowledgements.
struct LeaseClosed {
  bool receipt_acked = false;
  bool executor_closed = false;
};
using LeasePhase = std::variant<LeaseOpen, LeaseClosing, LeaseClosed>;

/// At most record.slots attempts have a slot at once; at most as many again have their inputs on the way or in place.
/// Public members are for Leases, which owns the leases and their timers.
class SoldLease {
 public:
  SoldLease(SoldLeaseRecord sold, TraceContext trace_context, Duration grace_limit);

  /// A run from the journal. Call before anything else.
  void restore(const RunRecord& run);

  /// Queues an attempt. Requires that it is not in the lease.
  void add(const AttemptId& attempt);
  /// Stages and launches what there is room for.
  void advance(Now now, Effects& fx);

  void staged(const AttemptId& attempt, const std::string& problem, Now now, Effects& fx);
  /// Tells whether this was news.
  bool started(const AttemptId& attempt, WallTime at, Effects& fx);
  /// As reported by the executor. Tells whether this was news.
  bool ended(const AttemptId& attempt, TaskEnd end, Now now, Effects& fx);
  /// Stops an attempt; its end will be called `kind`. Harmless for one that has ended or is not here.
  void interrupt(const AttemptId& attempt, Duration grace, EndKind kind, Now now, Effects& fx);
  /// Stops all of them.
  void interrupt_all(EndKind kind, Now now, Effects& fx);
  /// Ends whatever has not ended, without waiting for the executor.
  void abandon_all(EndKind kind, const std::string& message, Now now, Effects& fx);
  /// Ends one in a slot, likewise.
  void abandon(const AttemptId& attempt, EndKind kind, const std::string& message, Now now, Effects& fx);

  /// The end is acknowledged: forgets the attempt and adds it to the sums of the record (not recorded here). Tells
  /// whether there was such an end.
  bool forget(const AttemptId& attempt, Effects& fx);

  void send_done(const AttemptId& attempt, Effects& fx) const;
  void send_receipt(Effects& fx) const;

  AttemptState state(const AttemptId& attempt) const;
  bool has(const AttemptId& attempt) const { return attempts_.contains(attempt); }
  const std::map<AttemptId, Attempt>& attempts() const { return attempts_; }
  /// Those in slots.
  std::vector<AttemptId> placed() const;
  /// When the start of an attempt was recorded that is not known to run yet. Null for others.
  const WallTime* intended_at(const AttemptId& attempt) const;
  std::uint32_t busy() const { return busy_; }
  /// Not ended.
  std::size_t live() const { return attempts_.size() - ended_; }
  std::size_t ended_unacknowledged() const { return ended_; }
  /// Over all attempts, acknowledged or not. Meaningless once closed.
  Metered metered() const;

  SoldLeaseRecord record;
  TraceContext trace;
  LeasePhase phase;
  MonoTime last_word;            ///< From the buyer (or the start of this run).
  bool heard = false;            ///< Has the buyer spoken in this run?
  MonoTime idle_since;           ///< No attempt was live from then on, if none is now.
  bool awaits_adoption = false;  ///< From the journal, and the executor has not said yet what still runs.
  std::uint32_t resends = 0;
  AttemptId resend_after;  ///< Where the next round of repetitions goes on.

 private:
  bool may_start() const;
  bool next_in(std::deque<AttemptId>& line, AttemptId& attempt) const;
  void stage(const AttemptId& attempt, Now now, Effects& fx);
  void intend(const AttemptId& attempt, Duration staged_for, Now now, Effects& fx);
  void finish(const AttemptId& attempt, TaskEnd end, Now now, Effects& fx);
  RunRecord leave(Attempt& attempt, const AttemptId& id, Now now);
  std::vector<std::uint32_t> devices_of(std::uint32_t slot) const;
  std::uint32_t slot_of(const std::vector<std::uint32_t>& devices);

  Duration grace_;
  std::map<AttemptId, Attempt> attempts_;
  std::deque<AttemptId> queue_;  ///< Queued, in order of arrival; others among them are passed over.
  std::deque<AttemptId> ready_;  ///< Ready, likewise.
  std::uint32_t staged_ = 0;     ///< Staging or ready.
  std::uint32_t busy_ = 0;       ///< In a slot.
  std::size_t ended_ = 0;
  std::uint32_t devices_per_slot_ = 0;
  std::vector<std::uint32_t> free_slots_;  ///< Only where slots have devices.
};

}  // namespace abacus
