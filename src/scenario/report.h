// What came of a run, for people and for programs.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "sim/trial/trial.h"

namespace abacus {

/// What should not have been, one sentence each: violated invariants first, then what was expected and did not come.
/// Empty: the run is good.
std::vector<std::string> complaints(const Scenario& scenario, const sim::TrialResult& result);

/// "seed 7: 40 jobs, 812 tasks ended, 5.1 messages a placement, 12 faults, 2 min 5 s".
std::string summary(const Scenario& scenario, const sim::TrialResult& result);

/// All numbers of a run, with what is wrong with it. The state hash is a hex text.
boost::json::object report_of(const Scenario& scenario, const sim::TrialResult& result);

}  // namespace abacus
