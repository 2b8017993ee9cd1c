// Everything that is to happen in a simulation, as data: nodes, network, work, misfortunes. With the seed it decides
// all.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/node_config.h"
#include "protocol/job.h"
#include "sim/faults.h"
#include "sim/network.h"

namespace abacus::sim {

inline constexpr Duration kTimeMax = hours(24 * 365);  ///< Of any time in a plan: sums of a few cannot overflow.
inline constexpr Duration kLatencyMax = hours(1);      ///< Of links and disks.
inline constexpr std::uint32_t kTailTimesMax = 10'000;
inline constexpr std::size_t kRegionsMax = 1'000;  ///< The network keeps a latency for each pair.

/// One machine as the simulation is to make it.
struct NodeSetup {
  std::string region;
  Capacity capacity;
  PricingConfig pricing;
  Duration clock_offset;  ///< Of its wall clock from the true one.
  Duration starts_at;
};
BOOST_DESCRIBE_STRUCT(NodeSetup, (), (region, capacity, pricing, clock_offset, starts_at))

/// A job that a user hands in at a node. Lost if the agent is down at that moment, as for a real user.
struct PlannedJob {
  Duration at;
  NodeIndex node = 0;
  JobSpec spec;
  std::optional<Duration> cancel_after;
};
BOOST_DESCRIBE_STRUCT(PlannedJob, (), (at, node, spec, cancel_after))

struct Plan {
  std::uint64_t seed = 1;
  std::vector<NodeSetup> nodes;
  NetworkConfig network;
  Duration commit_latency = microseconds(250);
  OverlayConfig overlay;
  SellingConfig selling;
  BuyingConfig buying;
  std::vector<PlannedJob> jobs;
  std::vector<Fault> faults;
  std::vector<FaultChance> chances;
  Duration calm_at;            ///< From then on nothing is lost or fails by chance, and no fault lasts.
  Duration settle_within;      ///< After calm: all work must have ended by then.
  Duration rest = minutes(3);  ///< It goes on for so long after the last end: twice the longest pause between
                               ///< repetitions of receipts, and more, so that everything can come to rest.
  bool through_codec = true;   ///< Encode and decode each message, and refuse too large ones, as a wire would.
};
BOOST_DESCRIBE_STRUCT(Plan, (),
                      (seed, nodes, network, commit_latency, overlay, selling, buying, jobs, faults, chances, calm_at,
                       settle_within, rest, through_codec))

/// Errors: `invalid`, naming the entry: an index without a node, a time that is negative or beyond its maximum, a fault
/// that lasts beyond the calm, a job that no agent would take, a configuration that no node could work by.
Status validate(const Plan& plan);

}  // namespace abacus::sim
