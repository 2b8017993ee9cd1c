// The simulated network: for each message, whether it arrives, how often and when.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "base/prng.h"
#include "base/time.h"

namespace abacus::sim {

struct NetworkConfig {
  Duration latency_in_region = microseconds(150);  ///< One way.
  Duration latency_between_regions = milliseconds(15);
  Duration jitter = microseconds(50);  ///< Uniform, added; anything above zero reorders.
  std::uint32_t loss_permille = 0;
  std::uint32_t duplicate_permille = 0;
};

/// What a real transport may do: lose, delay, reorder and repeat messages, and tell one side of a broken connection.
class Network {
 public:
  Network(NetworkConfig config, Prng prng) : config_(config), prng_(prng) {}

  /// Delays after which copies of one message arrive; empty: it is lost.
  std::vector<Duration> deliveries(std::uint32_t from, std::uint32_t from_region, std::uint32_t to,
                                   std::uint32_t to_region);

  /// Separates these nodes from all others, both ways, until heal().
  void partition(std::set<std::uint32_t> side) { cut_off_ = std::move(side); }
  void heal() { cut_off_.clear(); }
  bool separated(std::uint32_t a, std::uint32_t b) const { return cut_off_.contains(a) != cut_off_.contains(b); }

  /// Ends loss and repetition (latency stays): what happens after this is the market's own doing.
  void calm() {
    config_.loss_permille = 0;
    config_.duplicate_permille = 0;
    heal();
  }

 private:
  Duration delay(bool same_region);

  NetworkConfig config_;
  Prng prng_;
  std::set<std::uint32_t> cut_off_;
};

}  // namespace abacus::sim
