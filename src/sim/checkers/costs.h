// Invariant: what the market costs is bounded: messages for a placement, chatter of a node, and what a node remembers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sim/observer.h"

namespace abacus::sim {

/// Counts what leaves the machines; messages to the own node are no cost.
class CostChecker final : public Checker {
 public:
  std::string name() const override { return "the cost of messages and memory is bounded"; }
  void on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) override;
  void on_second(const Simulation& simulation) override;
  void at_end(const Simulation& simulation) override;

  std::uint64_t overlay_messages() const { return overlay_.count; }

 private:
  void check_memory(const Simulation& simulation, NodeIndex index);

  struct Tally {
    std::uint64_t count = 0;
    std::map<std::string_view, std::uint64_t> by_kind;

    std::string most() const;
  };

  Tally overlay_, market_;
  std::uint64_t launches_ = 0;
  std::uint64_t node_seconds_ = 0;  ///< Of agents that were up.
};

}  // namespace abacus::sim
