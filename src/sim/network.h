// The simulated network: for each message, whether it arrives, how often and when.
#pragma once

#include <boost/container/static_vector.hpp>
#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/time.h"
#include "sim/faults.h"

namespace abacus::sim {

/// One way, between two regions (both directions, unless the other is given too).
struct RegionLatency {
  std::string from, to;
  Duration latency;
};
BOOST_DESCRIBE_STRUCT(RegionLatency, (), (from, to, latency))

struct NetworkConfig {
  Duration latency_in_region = microseconds(150);  ///< One way.
  Duration latency_between_regions = milliseconds(15);
  std::vector<RegionLatency> latencies;  ///< For pairs of regions that differ from that.
  Duration jitter = microseconds(50);    ///< Uniform, added; anything above zero reorders.
  std::uint32_t tail_permille = 0;       ///< Of messages take `tail_times` as long.
  std::uint32_t tail_times = 10;
  std::uint32_t loss_permille = 0;
  std::uint32_t duplicate_permille = 0;
};
BOOST_DESCRIBE_STRUCT(NetworkConfig, (),
                      (latency_in_region, latency_between_regions, latencies, jitter, tail_permille, tail_times,
                       loss_permille, duplicate_permille))

/// What a real transport may do: lose, delay, reorder and repeat messages, and tell one side of a broken connection.
class Network {
 public:
  /// `regions`: the region of each node.
  Network(NetworkConfig config, const std::vector<std::string>& regions, Prng prng);

  /// Delays after which copies of one message arrive; empty: it is lost.
  using Arrivals = boost::container::static_vector<Duration, 2>;
  Arrivals deliveries(NodeIndex from, NodeIndex to, MonoTime now);

  /// The fault holds from `begin` until `end` with the same number.
  void begin(std::size_t number, const Fault& fault);
  void end(std::size_t number) { faults_.erase(number); }

  /// True if no message from one to the other can arrive now.
  bool cut(NodeIndex from, NodeIndex to, MonoTime now) const;

  /// Ends loss, repetition and tails (latency and jitter stay).
  void calm();

 private:
  struct LinkFault {
    FaultKind kind;
    std::set<NodeIndex> near, far;  ///< An empty far side is everybody else.
    MonoTime since, until;
    Duration by;
    std::uint32_t permille;

    bool covers(NodeIndex from, NodeIndex to) const;
    bool cuts(NodeIndex from, NodeIndex to, MonoTime now) const;
  };

  Duration delay(NodeIndex from, NodeIndex to);

  NetworkConfig config_;
  Prng prng_;
  std::vector<std::uint32_t> region_of_;
  std::size_t regions_ = 0;
  std::vector<Duration> latency_;  ///< By (from region, to region), row by row.
  std::map<std::size_t, LinkFault> faults_;
};

}  // namespace abacus::sim
