// Life of a lease: tasks stream into its slots, ends stream back, and a beat makes both sides whole after any loss.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "protocol/job.h"

namespace abacus {

/// Further tasks for a lease. Repeats are harmless: an attempt is started once.
struct Start {
  LeaseId lease;
  std::vector<AttemptId> attempts;
};
BOOST_DESCRIBE_STRUCT(Start, (), (lease, attempts))

/// The process of an attempt runs.
struct Started {
  LeaseId lease;
  AttemptId attempt;
  WallTime at;
};
BOOST_DESCRIBE_STRUCT(Started, (), (lease, attempt, at))

/// An attempt ended. Durable at the seller and repeated until acknowledged.
struct Done {
  LeaseId lease;
  AttemptId attempt;
  TaskEnd end;
  Duration running;  ///< Metered wall time of the process.
  Duration staging;  ///< Metered time between start intent and process start.
};
BOOST_DESCRIBE_STRUCT(Done, (), (lease, attempt, end, running, staging))

/// The ends are durable at the buyer and their outputs fetched: the seller may forget these attempts.
struct DoneAck {
  LeaseId lease;
  std::vector<AttemptId> attempts;
};
BOOST_DESCRIBE_STRUCT(DoneAck, (), (lease, attempts))

/// Stop an attempt: SIGTERM, the grace, SIGKILL. Answered by its Done.
struct Interrupt {
  LeaseId lease;
  std::vector<AttemptId> attempts;
  Duration grace;
};
BOOST_DESCRIBE_STRUCT(Interrupt, (), (lease, attempts, grace))

/// The buyer's view of a lease, sent now and then and after any doubt. Whatever the two views differ in is repaired
/// from it: starts, ends and acknowledgements that got lost, and leases that one side no longer knows.
struct LeaseBeat {
  LeaseId lease;
  std::vector<AttemptId> attempts;  ///< That the buyer believes to be with the seller.
};
BOOST_DESCRIBE_STRUCT(LeaseBeat, (), (lease, attempts))

enum class AttemptState : std::uint8_t { unknown, staging, running, ended };
BOOST_DESCRIBE_ENUM(AttemptState, unknown, staging, running, ended)

struct AttemptReport {
  AttemptId attempt;
  AttemptState state = AttemptState::unknown;
};
BOOST_DESCRIBE_STRUCT(AttemptReport, (), (attempt, state))

/// The seller's answer: the state of each attempt asked about. Ended ones are followed by their Done.
struct LeaseReport {
  LeaseId lease;
  bool known = false;  ///< False: the seller has no such lease and runs nothing for it.
  std::vector<AttemptReport> attempts;
};
BOOST_DESCRIBE_STRUCT(LeaseReport, (), (lease, known, attempts))

/// "May I keep it `lease_time` longer from now, at `price` or less?" Answered by Renewed. What is named here is agreed
/// to, whether or not the answer arrives, and nothing dearer is.
struct Renew {
  LeaseId lease;
  Duration lease_time;
  std::optional<Price> price;  ///< None (older buyers): at the price of the day, whatever that is.
  std::uint32_t round = 0;     ///< Counts the questions about a lease; a repeated one keeps its number. 0: not counted.
};
BOOST_DESCRIBE_STRUCT(Renew, (), (lease, lease_time, price, round))

/// The lease now runs `lease_time` from now, at `price` from here on; zero time: not extended, nothing changed.
struct Renewed {
  LeaseId lease;
  Duration lease_time;
  Price price;
  std::uint32_t round = 0;  ///< Of the question.
  bool offered = false;     ///< Not extended for what was named, but a Renew that names `price` soon would be.
};
BOOST_DESCRIBE_STRUCT(Renewed, (), (lease, lease_time, price, round, offered))

/// The first five are a buyer's, the others a seller's.
enum class ReleaseReason : std::uint8_t {
  work_done,
  cancelled,
  budget,
  unknown_lease,
  not_renewed,
  seller_leaving,
  lease_ended,
  broken
};
BOOST_DESCRIBE_ENUM(ReleaseReason, work_done, cancelled, budget, unknown_lease, not_renewed, seller_leaving,
                    lease_ended, broken)

/// The sender gives the lease up. From the buyer: no more tasks come, running ones are interrupted unless they are
/// done. From the seller: it runs nothing for this lease any more. Answered by the seller with its Receipt.
struct Release {
  LeaseId lease;
  ReleaseReason reason = ReleaseReason::work_done;
};
BOOST_DESCRIBE_STRUCT(Release, (), (lease, reason))

/// What a lease came to: slot-time held, staging and running time metered apart, and what is owed for them.
struct Receipt {
  LeaseId lease;
  JobId job;
  std::uint32_t slots = 0;
  std::uint32_t tasks_ended = 0;
  WallTime opened_at;
  WallTime closed_at;
  Duration reserved;  ///< Slot-time from accept to release.
  Duration staging;
  Duration running;
  Money fees;
  Money owed;  ///< Slots x time at the agreed prices, plus fees.

  auto operator<=>(const Receipt&) const = default;
};
BOOST_DESCRIBE_STRUCT(Receipt, (),
                      (lease, job, slots, tasks_ended, opened_at, closed_at, reserved, staging, running, fees, owed))

/// The receipt is durable at the buyer: the seller may forget the lease.
struct ReceiptAck {
  LeaseId lease;
};
BOOST_DESCRIBE_STRUCT(ReceiptAck, (), (lease))

Status validate(const Start& start);
Status validate(const Done& done);
Status validate(const DoneAck& ack);
Status validate(const Interrupt& interrupt);
Status validate(const LeaseBeat& beat);
Status validate(const LeaseReport& report);
Status validate(const Renew& renew);
Status validate(const Renewed& renewed);
Status validate(const Receipt& receipt);

}  // namespace abacus
