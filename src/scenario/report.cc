// Texts and JSON from a trial's numbers, by integer arithmetic.
#include "scenario/report.h"

#include <algorithm>
#include <boost/json.hpp>

namespace abacus {
namespace {

namespace json = boost::json;

std::uint64_t market_messages(const sim::TrialResult& result) { return result.messages - result.overlay_messages; }

/// Rounded up; 0 of nothing.
std::uint64_t per(std::uint64_t count, std::uint64_t of) { return of == 0 ? 0 : (count + of - 1) / of; }

template <class Enum>
json::object counts_of(const std::map<Enum, std::uint64_t>& counts) {
  json::object object;
  for (const auto& [kind, count] : counts) object[boost::describe::enum_to_string(kind, "unknown")] = count;
  return object;
}

std::uint64_t faults_of(const sim::TrialResult& result) {
  std::uint64_t count = 0;
  for (const auto& [kind, times] : result.misfortunes.faults) count += times;
  return count;
}

std::string shown_pace(std::uint64_t micro) {
  return fmt::format("{}.{:03}", micro / 1'000'000, micro / 1'000 % 1'000);
}

void check_pace(const PaceExpectation& expect, const sim::TrialResult& result, std::vector<std::string>& complaints) {
  std::uint64_t before = sim::pace_in(result.pace, expect.before), after = sim::pace_in(result.pace, expect.after);
  if (before > 0 && after * 1'000 >= before * (1'000 - expect.within_permille)) return;
  complaints.push_back(fmt::format(
      "expected: launches a second and thousand CPUs that are up within {} permille of before; there were {} from {} s "
      "to {} s, and {} from {} s to {} s",
      expect.within_permille, shown_pace(before), expect.before.from_s, expect.before.to_s, shown_pace(after),
      expect.after.from_s, expect.after.to_s));
}

json::array pace_of(const sim::TrialResult& result) {
  json::array seconds;
  for (const sim::PaceSecond& second : result.pace)
    seconds.push_back(json::array{second.launches, second.cpu_milli_up});
  return seconds;
}

}  // namespace

std::vector<std::string> complaints(const Scenario& scenario, const sim::TrialResult& result) {
  std::vector<std::string> all;
  for (const sim::Violation& violation : result.violations) {
    all.push_back(
        fmt::format("at {}: {}: {}", to_string(violation.at - MonoTime{}), violation.checker, violation.what));
  }
  const Expectations& expect = scenario.expect;
  if (expect.settled && !result.settled) all.push_back("expected: all work ends in time; some has not");
  std::uint64_t messages = per(market_messages(result), result.placements);
  if (expect.messages_per_placement_max && messages > *expect.messages_per_placement_max) {
    all.push_back(fmt::format("expected: at most {} messages of the market a placement; there were {}",
                              *expect.messages_per_placement_max, messages));
  }
  std::uint64_t refused = per(result.awards_refused * 1'000, result.awards);
  if (expect.refused_permille_max && refused > *expect.refused_permille_max) {
    all.push_back(fmt::format("expected: at most {} permille of the awards refused; {} were",
                              *expect.refused_permille_max, refused));
  }
  if (expect.pace) check_pace(*expect.pace, result, all);
  return all;
}

std::string summary(const Scenario& scenario, const sim::TrialResult& result) {
  std::uint64_t tenths = result.placements == 0 ? 0 : market_messages(result) * 10 / result.placements;
  return fmt::format("seed {}: {} nodes, {} jobs, {} tasks ended, {}.{} messages a placement, {} faults, {}",
                     scenario.plan.seed, scenario.plan.nodes.size(), result.jobs_accepted, result.tasks_ended,
                     tenths / 10, tenths % 10, faults_of(result), to_string(result.virtual_time));
}

json::object report_of(const Scenario& scenario, const sim::TrialResult& result) {
  json::array wrong;
  for (std::string& complaint : complaints(scenario, result)) wrong.emplace_back(std::move(complaint));
  return {{"seed", scenario.plan.seed},
          {"nodes", scenario.plan.nodes.size()},
          {"settled", result.settled},
          {"wrong", std::move(wrong)},
          {"state_hash", fmt::format("{:016x}", result.state_hash)},
          {"virtual_time_ns", result.virtual_time.ns},
          {"events", result.events},
          {"messages", result.messages},
          {"overlay_messages", result.overlay_messages},
          {"jobs_accepted", result.jobs_accepted},
          {"tasks_ended", result.tasks_ended},
          {"placements", result.placements},
          {"placed_again", result.placed_again},
          {"awards", result.awards},
          {"awards_refused", result.awards_refused},
          {"messages_lost", result.misfortunes.messages_lost},
          {"messages_repeated", result.misfortunes.messages_repeated},
          {"faults", counts_of(result.misfortunes.faults)},
          {"rare_paths", counts_of(result.misfortunes.points)},
          {"launches_and_cpu_milli_by_second", pace_of(result)}};
}

}  // namespace abacus
