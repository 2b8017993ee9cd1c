// How often each kind of misfortune really struck in a simulation.
#pragma once

#include <cstdint>

namespace abacus::sim {

struct FaultCounts {
  std::uint64_t crashes = 0;  ///< Of running agents; power losses included.
  std::uint64_t power_losses = 0;
  std::uint64_t partitions = 0;
  std::uint64_t messages_lost = 0;  ///< By loss or partition.
  std::uint64_t messages_repeated = 0;

  void add(const FaultCounts& other) {
    crashes += other.crashes;
    power_losses += other.power_losses;
    partitions += other.partitions;
    messages_lost += other.messages_lost;
    messages_repeated += other.messages_repeated;
  }
};

}  // namespace abacus::sim
