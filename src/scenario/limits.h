// How large a scenario may grow, so that a slip of a digit is refused before it eats the memory.
#pragma once

#include <cstdint>

namespace abacus {

/// Of all groups and rules of a scenario together. The defaults are what one machine can simulate.
struct ScenarioLimits {
  std::uint64_t nodes = 100'000;
  std::uint64_t jobs = 1'000'000;
  std::uint64_t job_bytes = 4ull << 30;  ///< Of memory, for all jobs together.
  std::uint64_t faults = 10'000;
  std::uint64_t struck = 10'000'000;  ///< Nodes named by faults, each as often as it is named.
};

}  // namespace abacus
