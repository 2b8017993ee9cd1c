// A lease that this node bought, or is trying to buy, and the attempts that are with its seller.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/buying/amounts.h"
#include "core/model/records.h"

namespace abacus {

/// An attempt that the seller has, or may have.
struct LeaseAttempt {
  enum class State : std::uint8_t { sent, staging, running };
  State state = State::sent;
  bool superseded = false;   ///< The task was placed again elsewhere; still the first end counts.
  bool interrupted = false;  ///< Asked to stop: repeated with every beat.
  bool recalled = false;     ///< Stopped for want of a slot, to be placed again.
  MonoTime sent_at;          ///< It or the latest question about it.
  MonoTime start_sent_at;    ///< It, or it again.
};

/// The award is out; the seller has not answered.
struct Awarded {
  NegotiationId negotiation = 0;
  std::uint64_t quote = 0;
  std::uint32_t tries = 1;
  MonoTime again_at;
};

/// Accepted (or restored, which is to be confirmed by the first report).
struct Live {
  bool confirmed = true;
  bool seller_closed = false;  ///< Runs nothing more; ends may still come.
  bool closing = false;        ///< No more tasks: it will not be renewed, or nothing may be spent on it.
  MonoTime beat_at;
  std::optional<MonoTime> renew_at;
  MonoTime ends_at;
  std::optional<MonoTime> idle_since;
  std::optional<MonoTime> renewal_until;  ///< Asked for; none: no renewal is under way.
  bool price_raised = false;              ///< That question names what the seller offered.
  bool cut = false;  ///< The budget ends before the seller would: released at the end, done or not.
  MonoTime since;    ///< Accepted then, or taken from the journal.
};

/// Given up; waits for the receipt.
struct Released {
  std::uint32_t tries = 1;
  MonoTime again_at;
  MonoTime forget_at;
  WallTime since;
};

using LeaseState = std::variant<Awarded, Live, Released>;

/// Position of the task and number of the attempt.
using AttemptKey = std::pair<std::uint32_t, std::uint32_t>;

struct Lease {
  BoughtLeaseRecord record;
  LeaseState state;
  std::map<AttemptKey, LeaseAttempt> attempts;
  std::uint32_t slots_awarded = 0;
  std::uint32_t place = 0;         ///< In Job::places.
  std::uint32_t fees_charged = 0;  ///< Attempts sent, each of which may cost the fee.
  Duration round_trip;
  Money reserve;                            ///< For a renewal that is asked for.
  std::optional<MonoTime> untouched_since;  ///< The seller is suspect, or left two beats unanswered.
  std::uint32_t beats_unanswered = 0;
  MonoTime watch_at;  ///< When the timer is set for.

  const LeaseId& id() const { return record.lease; }
  bool live() const { return std::holds_alternative<Live>(state); }
  bool released() const { return std::holds_alternative<Released>(state); }
  bool idle() const { return attempts.empty(); }

  /// The most that is owed if the lease ends at `end`.
  Money owed_by(WallTime end) const {
    return sum(sum(record.owed_before, most_cost(record.price, record.slots, end - record.price_since)),
               times(record.fee, fees_charged));
  }
  Money committed() const { return sum(owed_by(record.until), reserve); }
  /// When it ends at the latest, by what its seller may have granted.
  WallTime latest_end() const { return std::max(record.until, record.renewal_until); }

  /// Attempts of a task, whatever their numbers.
  auto attempts_of(std::uint32_t position) { return attempts.lower_bound({position, 0}); }
};

}  // namespace abacus
