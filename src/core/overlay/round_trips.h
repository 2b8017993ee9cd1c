// How far away nodes are: smoothed round trips per node, with the average of the node's region as a fallback.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "core/overlay/overlay_config.h"

namespace abacus {

class RoundTrips {
 public:
  RoundTrips(const RoundTripConfig& config, std::string own_region)
      : config_(config), own_region_(std::move(own_region)) {}

  /// A round trip to `node` took `sample`. `region` may be null where it is not known. Absurd samples are left out.
  void measured(const NodeId& node, const std::string* region, Duration sample);

  /// Measured, or the average of the region, or a default by whether it is the own region.
  Duration to(const NodeId& node, const std::string* region) const;
  Duration to_region(const std::string& region) const;

 private:
  struct Peer {
    Duration smoothed;
    std::uint64_t used = 0;  ///< Number of the latest sample: the least recently measured goes first.
  };
  void make_room();

  RoundTripConfig config_;
  std::string own_region_;
  std::map<NodeId, Peer> peers_;
  std::map<std::string, Duration> regions_;
  std::uint64_t samples_ = 0;
};

}  // namespace abacus
