// A market, its work and its misfortunes, all drawn from one seed.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/simulation.h"

namespace abacus::sim {

struct RandomMarketOptions {
  std::uint32_t nodes = 50;
  std::uint32_t regions = 3;
  std::uint32_t jobs = 40;
  Duration working_time = seconds(60);  ///< Jobs are submitted within it, and misfortunes befall within it.
  Sabotages sabotage;                   ///< Of every machine.
  bool faults = true;                   ///< Loss, repetition, crashes, power losses, a partition.
};

/// Nodes of 1 to 16 CPUs (a few with GPUs) in some regions at different energy prices; jobs of 1 to 60 tasks, some with
/// outputs, some at most once, some cancelled; buyers and sellers crash and come back. Calm after `working_time`.
class RandomMarket {
 public:
  RandomMarket(std::uint64_t seed, RandomMarketOptions options);

  Simulation& simulation() { return *simulation_; }
  MonoTime calm_at() const { return MonoTime{} + options_.working_time + seconds(10); }

  /// Runs through the faults and then until everything accepted has ended, or `patience` after calm. True if it has.
  bool run(Duration patience);

 private:
  SimulationConfig make_config(std::uint64_t seed);
  NodeSetup make_node();
  JobSpec make_job();
  MonoTime some_time() { return MonoTime{prng_.between(seconds(2).ns, options_.working_time.ns)}; }
  NodeIndex some_node() { return static_cast<NodeIndex>(prng_.below(options_.nodes)); }
  void schedule_work();
  void schedule_faults();

  RandomMarketOptions options_;
  Prng prng_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace abacus::sim
