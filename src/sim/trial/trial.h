// A plan run under all checkers, and what came of it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/observer.h"
#include "sim/plan.h"
#include "sim/sabotage.h"
#include "sim/simulation.h"
#include "sim/trial/pace.h"

namespace abacus::sim {

struct TrialResult {
  std::vector<Violation> violations;
  std::uint64_t state_hash = 0;
  std::uint64_t events = 0;     ///< Of the simulator.
  std::size_t agenda_peak = 0;  ///< Events scheduled at a time, at most.
  std::uint64_t messages = 0;
  std::uint64_t overlay_messages = 0;
  std::size_t jobs_accepted = 0;
  bool settled = false;  ///< Everything accepted has ended.
  // Counted by agents since their last start:
  std::uint64_t tasks_ended = 0;
  std::uint64_t placements = 0;
  std::uint64_t placed_again = 0;  ///< Attempts that were lost.
  std::uint64_t awards = 0;
  std::uint64_t awards_refused = 0;
  Duration virtual_time;
  std::vector<PaceSecond> pace;
  Misfortunes misfortunes;
};

/// Requires a valid plan. `onlooker` sees what the checkers see; null: nobody.
TrialResult run_trial(const Plan& plan, const Sabotages& sabotage = {}, Checker* onlooker = nullptr);

}  // namespace abacus::sim
