// Draws loss, repetition and delay of each message, and applies the faults of links that hold at the moment.
#include "sim/network.h"

#include <algorithm>

namespace abacus::sim {

Network::Network(NetworkConfig config, const std::vector<std::string>& regions, Prng prng)
    : config_(std::move(config)), prng_(prng) {
  std::map<std::string, std::uint32_t> index;
  for (const std::string& region : regions) {
    region_of_.push_back(index.try_emplace(region, static_cast<std::uint32_t>(index.size())).first->second);
  }
  regions_ = index.size();
  latency_.assign(regions_ * regions_, config_.latency_between_regions);
  for (std::size_t i = 0; i < regions_; ++i) latency_[i * regions_ + i] = config_.latency_in_region;
  auto set = [&](const std::string& from, const std::string& to, Duration latency) {
    auto row = index.find(from), column = index.find(to);
    if (row != index.end() && column != index.end()) latency_[row->second * regions_ + column->second] = latency;
  };
  for (const RegionLatency& link : config_.latencies) set(link.to, link.from, link.latency);
  for (const RegionLatency& link : config_.latencies) set(link.from, link.to, link.latency);
}

bool Network::LinkFault::covers(NodeIndex from, NodeIndex to) const {
  auto joins = [&](NodeIndex a, NodeIndex b) {
    return near.contains(a) && (far.empty() ? !near.contains(b) : far.contains(b));
  };
  return joins(from, to) || (kind != FaultKind::cut_one_way && joins(to, from));
}

bool Network::LinkFault::cuts(NodeIndex from, NodeIndex to, MonoTime now) const {
  bool cutting = kind == FaultKind::cut || kind == FaultKind::cut_one_way ||
                 (kind == FaultKind::flap && (now - since).ns / by.ns % 2 == 0);
  return cutting && covers(from, to);
}

void Network::begin(std::size_t number, const Fault& fault) {
  faults_[number] = {fault.kind,
                     {fault.nodes.begin(), fault.nodes.end()},
                     {fault.others.begin(), fault.others.end()},
                     MonoTime{} + fault.at,
                     MonoTime{} + fault.at + fault.lasts,
                     fault.by,
                     fault.permille};
}

bool Network::cut(NodeIndex from, NodeIndex to, MonoTime now) const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [&](const auto& entry) { return entry.second.cuts(from, to, now); });
}

void Network::calm() {
  config_.loss_permille = 0;
  config_.duplicate_permille = 0;
  config_.tail_permille = 0;
}

Network::Arrivals Network::deliveries(NodeIndex from, NodeIndex to, MonoTime now) {
  if (config_.loss_permille > 0 && prng_.chance(config_.loss_permille, 1000)) return {};
  Duration held{};
  for (const auto& [number, fault] : faults_) {
    if (fault.cuts(from, to, now)) return {};
    if (!fault.covers(from, to)) continue;
    if (fault.kind == FaultKind::loss && prng_.chance(fault.permille, 1000)) return {};
    if (fault.kind == FaultKind::clog) held = std::max(held, fault.until - now);
  }
  Arrivals arrivals{held + delay(from, to)};
  if (config_.duplicate_permille > 0 && prng_.chance(config_.duplicate_permille, 1000)) {
    arrivals.push_back(held + delay(from, to) * 3);
  }
  return arrivals;
}

Duration Network::delay(NodeIndex from, NodeIndex to) {
  Duration base = latency_[region_of_[from] * regions_ + region_of_[to]];
  if (config_.jitter > Duration{}) base += Duration{prng_.between(0, config_.jitter.ns)};
  if (config_.tail_permille > 0 && prng_.chance(config_.tail_permille, 1000)) return base * config_.tail_times;
  return base;
}

}  // namespace abacus::sim
