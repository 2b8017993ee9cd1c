// How fast work is begun, second by second, and by how much of the machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/observer.h"

namespace abacus::sim {

struct PaceSecond {
  std::uint64_t launches = 0;
  std::uint64_t cpu_milli_up = 0;  ///< Of all agents that are up when the second ends.
};

/// A span of virtual time, in whole seconds since the start.
struct Span {
  std::int64_t from_s = 0;
  std::int64_t to_s = 0;  ///< Excluded.
};

/// Launches per second and per thousand CPUs that are up, in micro-launches. 0 where nothing is up or the span is past
/// the end.
std::uint64_t pace_in(const std::vector<PaceSecond>& seconds, Span span);

class PaceMeter final : public Checker {
 public:
  std::string name() const override { return "pace"; }
  void on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) override;
  void on_second(const Simulation& simulation) override;

  std::vector<PaceSecond> take() { return std::move(seconds_); }

 private:
  std::vector<PaceSecond> seconds_;
  std::uint64_t launches_ = 0;  ///< In the second under way.
};

}  // namespace abacus::sim
