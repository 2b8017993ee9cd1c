// Tells the overlay's messages from those of the market, and compares both with bounds that leave some room.
#include "sim/checkers/costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/simulation.h"

namespace abacus::sim {
namespace {

/// Random markets in trouble were seen to send 3.3 to 4.0: a shuffle in 2 s, a probe a second, and their answers.
constexpr std::uint64_t kOverlayPerNodeSecond = 8;
/// They send 3 to 9 messages of the market for a launch; asking for what finds no room, and beats of long leases, cost
/// without one, 0.1 to 1.2 a second and node.
constexpr std::uint64_t kMarketPerLaunch = 10;
constexpr std::uint64_t kMarketPerTwoNodeSeconds = 3;

bool is_of_overlay(const Message& message) { return message.index() <= Message(PingRelay{}).index(); }

}  // namespace

void CostChecker::on_effect(const Simulation&, NodeIndex, const Effect& effect) {
  if (std::holds_alternative<Launch>(effect)) ++launches_;
  const auto* send = std::get_if<Send>(&effect);
  if (send == nullptr) return;
  Tally& tally = is_of_overlay(send->message) ? overlay_ : market_;
  ++tally.count;
  ++tally.by_kind[name_of(send->message)];
}

std::string CostChecker::Tally::most() const {
  auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  auto most = std::max_element(by_kind.begin(), by_kind.end(), fewer);
  return most == by_kind.end() ? "" : fmt::format("{} {}", most->second, most->first);
}

void CostChecker::on_second(const Simulation& simulation) {
  for (NodeIndex i = 0; i < simulation.size(); ++i) {
    if (simulation.node(i) == nullptr) continue;
    ++node_seconds_;
    check_memory(simulation, i);
  }
}

void CostChecker::check_memory(const Simulation& simulation, NodeIndex index) {
  const OverlayConfig& config = simulation.plan().overlay;
  const Overlay& overlay = simulation.node(index)->overlay();
  auto within = [&](std::size_t count, std::size_t most, const char* what) {
    if (count > most) violated(simulation, fmt::format("node {} keeps {} {}, more than {}", index, count, what, most));
  };
  within(overlay.neighbours().size(), config.views.active_max, "neighbours");
  within(overlay.passive_contacts().size(), config.views.passive_max, "passive contacts");
  within(overlay.offers(simulation.now_at(index).wall).size(), config.cache.capacity + 1, "offers");
}

void CostChecker::at_end(const Simulation& simulation) {
  auto within = [&](const Tally& tally, std::uint64_t most, const char* what) {
    if (tally.count <= most) return;
    violated(simulation, fmt::format("{} {} messages in {} node-seconds with {} launches, more than {}; {} among them",
                                     tally.count, what, node_seconds_, launches_, most, tally.most()));
  };
  within(overlay_, node_seconds_ * kOverlayPerNodeSecond, "overlay");
  within(market_, launches_ * kMarketPerLaunch + node_seconds_ * kMarketPerTwoNodeSeconds / 2, "market");
}

}  // namespace abacus::sim
