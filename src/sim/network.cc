// Draws loss, repetition and delay of each message.
#include "sim/network.h"

namespace abacus::sim {

std::vector<Duration> Network::deliveries(std::uint32_t from, std::uint32_t from_region, std::uint32_t to,
                                          std::uint32_t to_region) {
  if (separated(from, to) || prng_.chance(config_.loss_permille, 1000)) return {};
  std::vector<Duration> arrivals{delay(from_region == to_region)};
  if (prng_.chance(config_.duplicate_permille, 1000)) arrivals.push_back(delay(from_region == to_region) * 3);
  return arrivals;
}

Duration Network::delay(bool same_region) {
  Duration base = same_region ? config_.latency_in_region : config_.latency_between_regions;
  return base + Duration{prng_.between(0, config_.jitter.ns)};
}

}  // namespace abacus::sim
