// How fast a simulation ran on one core, and what its nodes weigh.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "sim/trial/trial.h"

namespace abacus {

/// Make it before the run, on the thread that runs it: what counts is the processor time of that thread, so that other
/// work on the machine disturbs little.
class SpeedGauge {
 public:
  SpeedGauge();

  /// One line about the run that just ended: events a second; the same number of events through a heap that holds as
  /// many but does nothing with them, which is the ceiling; the process's peak memory shared among `nodes`.
  std::string report(std::size_t nodes, const sim::TrialResult& result) const;

 private:
  Duration began_;
};

}  // namespace abacus
