// Smoothing as in RFC 6298: seven eighths of the old, one eighth of the new.
#include "core/overlay/round_trips.h"

#include <algorithm>

namespace abacus {
namespace {

constexpr std::int64_t kSmoothing = 8;

void blend(Duration& smoothed, Duration sample) { smoothed += (sample - smoothed) / kSmoothing; }

}  // namespace

void RoundTrips::measured(const NodeId& node, const std::string* region, Duration sample) {
  if (sample < Duration{} || sample > config_.longest) return;
  auto [peer, fresh] = peers_.try_emplace(node, Peer{sample, 0});
  if (!fresh) blend(peer->second.smoothed, sample);
  peer->second.used = ++samples_;
  if (fresh) make_room();
  if (region == nullptr) return;
  if (auto known = regions_.find(*region); known != regions_.end()) {
    blend(known->second, sample);
  } else if (regions_.size() < config_.regions_max) {
    regions_.emplace(*region, sample);
  }
}

void RoundTrips::make_room() {
  if (peers_.size() <= config_.peers_max) return;
  peers_.erase(std::min_element(peers_.begin(), peers_.end(),
                                [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
}

Duration RoundTrips::to(const NodeId& node, const std::string* region) const {
  if (auto known = peers_.find(node); known != peers_.end()) return known->second.smoothed;
  return region != nullptr ? to_region(*region) : config_.other_region;
}

Duration RoundTrips::to_region(const std::string& region) const {
  if (auto known = regions_.find(region); known != regions_.end()) return known->second;
  return region == own_region_ ? config_.same_region : config_.other_region;
}

}  // namespace abacus
