// A simulation as data: a YAML text, with tables in CSV beside it, to a plan and what is expected of it.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "scenario/limits.h"
#include "sim/plan.h"
#include "sim/trial/pace.h"

namespace abacus {

/// That work is begun as fast, measured by the machines that are up, as before something happened.
struct PaceExpectation {
  sim::Span before, after;
  std::uint32_t within_permille = 50;  ///< Slower by at most so much.
};

/// What a run must show, besides violating no invariant. docs/reference/scenarios.md lists the names.
struct Expectations {
  bool settled = true;                                      ///< All work has ended in time.
  std::optional<std::uint64_t> messages_per_placement_max;  ///< Of the market; those of the overlay are not counted.
  std::optional<std::uint32_t> refused_permille_max;        ///< Of the awards.
  std::optional<PaceExpectation> pace;
};

struct Scenario {
  std::string about;  ///< In one sentence, for people.
  sim::Plan plan;
  Expectations expect;
};

/// Gives the text of a file named in a scenario, relative to it. Errors go on to whoever asked for the scenario.
using ReadFile = std::function<Result<std::string>(const std::string& name)>;

/// `document`: the YAML as JSON (api/yaml.h). `seed` takes the place of the scenario's own. Everything that is drawn is
/// drawn from the seed. Errors: `invalid`, with the path of the entry, what is wrong and what would be right, also for
/// what goes beyond the limits; those of `read_file`.
Result<Scenario> parse_scenario(const boost::json::value& document, std::optional<std::uint64_t> seed,
                                const ReadFile& read_file, const ScenarioLimits& limits = {});

/// A scenario with everything written out, nothing left to draw: what `parse_scenario` reads back to the same plan.
boost::json::value scenario_document(const Scenario& scenario);

}  // namespace abacus
