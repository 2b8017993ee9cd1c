// All that the buying side of a node knows, and the turn in which it acts: the rooms of this folder work on these two.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/prng.h"
#include "core/buying/buying_config.h"
#include "core/buying/job.h"
#include "core/buying/lease.h"
#include "core/buying/sellers.h"
#include "core/model/effects.h"
#include "core/model/peers.h"
#include "core/model/timer_queue.h"
#include "core/model/views.h"

namespace abacus {

/// Timers, one kind each.
struct EpisodeDue {
  JobId job;
  auto operator<=>(const EpisodeDue&) const = default;
};
struct DeadlineDue {
  JobId job;
  auto operator<=>(const DeadlineDue&) const = default;
};
struct LeaseDue {
  LeaseId lease;
  auto operator<=>(const LeaseDue&) const = default;
};
struct FetchDue {
  TaskId task;
  auto operator<=>(const FetchDue&) const = default;
};
struct PlanDue {
  NegotiationId negotiation = 0;
  auto operator<=>(const PlanDue&) const = default;
};
struct RetentionDue {
  auto operator<=>(const RetentionDue&) const = default;
};
using BuyingTimer = std::variant<EpisodeDue, DeadlineDue, LeaseDue, FetchDue, PlanDue, RetentionDue>;

/// A plan whose sellers are being asked.
struct Plan {
  RequestId request = 0;
  JobSpec spec;
  std::uint32_t nodes_known = 0;
  std::vector<Asked> asked;
  std::vector<PlanLine> misses;  ///< Of nodes that can never hold it.
};

struct Desk {
  BuyingConfig config;
  Contact self;
  OrgId organisation;
  std::string region;
  Prng prng;

  std::map<JobId, Job> jobs;
  std::set<std::pair<WallTime, JobId>> ended_jobs;
  std::map<NegotiationId, JobId> negotiations;
  std::map<LeaseId, Lease> leases;
  std::map<NegotiationId, Plan> plans;
  SellerBook sellers;
  TimerQueue<BuyingTimer> timers;
  Counters counters;
  bool wants_search = false;

  Job* job(const JobId& id) {
    auto found = jobs.find(id);
    return found == jobs.end() ? nullptr : &found->second;
  }
  Lease* lease(const LeaseId& id) {
    auto found = leases.find(id);
    return found == leases.end() ? nullptr : &found->second;
  }
};

/// One event being handled.
struct Turn {
  Desk& desk;
  const Peers& peers;
  Now now;
  Effects& fx;

  void send(const Job& job, const Contact& to, Message message) { fx.send(to, job.trace, std::move(message)); }

  /// A line for `explain`. Of `line`, the time is filled in here.
  void note(Job& job, NegotiationLine line) {
    line.at = now.wall;
    job.history.add(std::move(line), desk.config.history_lines);
  }

  void warn(const TraceContext& trace, std::string text) { fx.soft(Log{Log::Level::warning, trace, std::move(text)}); }
};

}  // namespace abacus
