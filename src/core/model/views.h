// What a node shows of itself: read-only snapshots for API, CLI and tests. JSON comes from the described fields.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/job.h"
#include "protocol/trade_messages.h"

namespace abacus {

enum class TaskPhase : std::uint8_t { waiting, placed, staging, running, fetching, ended };
BOOST_DESCRIBE_ENUM(TaskPhase, waiting, placed, staging, running, fetching, ended)

struct TaskView {
  TaskId task;
  TaskPhase phase = TaskPhase::waiting;
  std::uint32_t attempt = 0;
  NodeId seller;
  std::string region;
  std::uint32_t rounds = 0;
  Price price;
  Money cost;  ///< Of the running time, at the price, with the fee.
  WallTime submitted_at;
  std::optional<WallTime> placed_at;
  std::optional<WallTime> started_at;
  std::optional<TaskEnd> end;
};
BOOST_DESCRIBE_STRUCT(TaskView, (),
                      (task, phase, attempt, seller, region, rounds, price, cost, submitted_at, placed_at, started_at,
                       end))

struct JobView {
  JobId job;
  std::string name;
  std::vector<std::string> command;
  Bundle bundle;
  bool is_array = false;
  std::uint32_t tasks = 0;
  std::uint32_t waiting = 0;
  std::uint32_t placed = 0;  ///< Placed, staging, running or fetching.
  std::uint32_t succeeded = 0;
  std::uint32_t failed = 0;
  bool cancelled = false;
  bool ended = false;
  Money spent;      ///< By receipts so far.
  Money committed;  ///< At most, for leases still open.
  std::optional<Money> budget;
  WallTime submitted_at;
  std::optional<WallTime> ended_at;
  std::string waiting_for;  ///< Why tasks wait, in one sentence; empty if none do.
  std::optional<WallTime> deadline;
};
BOOST_DESCRIBE_STRUCT(JobView, (),
                      (job, name, command, bundle, is_array, tasks, waiting, placed, succeeded, failed, cancelled,
                       ended, spent, committed, budget, submitted_at, ended_at, waiting_for, deadline))

enum class NegotiationStep : std::uint8_t {
  shortlisted,
  asked,
  quoted,
  declined,
  silent,
  awarded,
  accepted,
  refused,
  released,
  lost,
  cooling_down,
  gave_up
};
BOOST_DESCRIBE_ENUM(NegotiationStep, shortlisted, asked, quoted, declined, silent, awarded, accepted, refused, released,
                    lost, cooling_down, gave_up)

/// One thing that happened in the negotiation for a job, for `explain`.
struct NegotiationLine {
  WallTime at;
  NegotiationId negotiation = 0;
  std::uint32_t round = 0;
  NegotiationStep step = NegotiationStep::asked;
  NodeId seller;
  std::string region;
  std::uint32_t slots = 0;
  std::optional<Price> price;
  std::optional<Money> score;  ///< The buyer's, for one task: lower is better.
  std::optional<DeclineDetail> decline;
  std::optional<PriceReason> reason;
  std::string text;  ///< The same in one sentence.
};
BOOST_DESCRIBE_STRUCT(NegotiationLine, (),
                      (at, negotiation, round, step, seller, region, slots, price, score, decline, reason, text))

struct ExplainView {
  TaskView task;
  std::string summary;                 ///< Why it is where it is, or why it still waits, and when it may start.
  std::vector<NegotiationLine> lines;  ///< Latest episodes, oldest first; those of earlier runs of this agent are gone.
};
BOOST_DESCRIBE_STRUCT(ExplainView, (), (task, summary, lines))

struct BoughtLeaseView {
  LeaseId lease;
  JobId job;
  NodeId seller;
  std::string region;
  std::uint32_t slots = 0;
  std::uint32_t slots_busy = 0;
  Price price;
  WallTime until;
  bool accepted = false;
  bool released = false;
};
BOOST_DESCRIBE_STRUCT(BoughtLeaseView, (),
                      (lease, job, seller, region, slots, slots_busy, price, until, accepted, released))

struct SoldLeaseView {
  LeaseId lease;
  JobId job;
  NodeId buyer;
  Bundle bundle;
  std::uint32_t slots = 0;
  std::uint32_t running = 0;
  Price price;
  WallTime opened_at;
  WallTime until;
  bool closed = false;
};
BOOST_DESCRIBE_STRUCT(SoldLeaseView, (), (lease, job, buyer, bundle, slots, running, price, opened_at, until, closed))

/// The selling side of a node.
struct SellingView {
  Capacity capacity;
  Capacity free;
  std::uint32_t multiplier_permille = 1000;
  std::uint32_t utilisation_permille = 0;
  Price cpu_price;  ///< For one whole CPU, now.
  bool draining = false;
  Money earned;  ///< By receipts of this run of the agent.
  std::vector<SoldLeaseView> leases;
};
BOOST_DESCRIBE_STRUCT(SellingView, (),
                      (capacity, free, multiplier_permille, utilisation_permille, cpu_price, draining, earned, leases))

/// A node as another one knows it.
struct PeerView {
  NodeId node;
  Endpoint endpoint;
  std::string region;
  Capacity capacity;
  Duration round_trip;
  bool self = false;
  bool neighbour = false;  ///< In the active view.
  bool suspect = false;
  std::uint64_t sequence = 0;
  Duration age;                     ///< Of its offer.
  std::optional<Price> last_price;  ///< Heard directly, for one slot of whatever was asked.
};
BOOST_DESCRIBE_STRUCT(PeerView, (),
                      (node, endpoint, region, capacity, round_trip, self, neighbour, suspect, sequence, age,
                       last_price))

/// Counters since the start of this run, for metrics and benchmarks.
struct Counters {
  std::uint64_t negotiations = 0;
  std::uint64_t placements = 0;  ///< Attempts placed.
  std::uint64_t fast_awards = 0;
  std::uint64_t rfqs_sent = 0;
  std::uint64_t quotes_sent = 0;
  std::uint64_t declines_sent = 0;
  std::uint64_t awards_sent = 0;
  std::uint64_t awards_refused = 0;
  std::uint64_t tasks_succeeded = 0;
  std::uint64_t tasks_failed = 0;
  std::uint64_t tasks_lost = 0;  ///< Attempts, placed again afterwards.
  std::uint64_t processes_started = 0;
  std::uint64_t processes_ended = 0;
  std::uint64_t messages_received = 0;
};
BOOST_DESCRIBE_STRUCT(Counters, (),
                      (negotiations, placements, fast_awards, rfqs_sent, quotes_sent, declines_sent, awards_sent,
                       awards_refused, tasks_succeeded, tasks_failed, tasks_lost, processes_started, processes_ended,
                       messages_received))

}  // namespace abacus
