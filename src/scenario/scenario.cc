// The whole document: its parts in the order in which they need each other.
#include "scenario/scenario.h"

#include "api/from_json.h"
#include "protocol/json_form.h"
#include "scenario/fields.h"
#include "scenario/parts.h"
#include "sim/workloads/random_plan.h"

namespace abacus {
namespace {

namespace json = boost::json;

Status read_random(const json::value& value, const std::string& path, Draft& draft) {
  Fields fields(value, path);
  sim::RandomPlanOptions options;
  fields.number("nodes", options.nodes);
  fields.number("regions", options.regions, sim::kRegionsMax);
  fields.number("jobs", options.jobs);
  fields.time("working_time", options.working_time);
  fields.time("settle_within", options.settle_within);
  fields.flag("faults", options.faults);
  TRY_STATUS(fields.finish());
  if (options.nodes == 0 || options.regions == 0) return fail(ErrorCode::invalid, "{}: want at least 1 of each", path);
  if (options.working_time < sim::kWorkingTimeMin) {
    return fail(ErrorCode::invalid, "{}.working_time: {} is too short, want {} at least", path,
                to_string(options.working_time), to_string(sim::kWorkingTimeMin));
  }
  Status room = check_room("nodes", 0, options.nodes, draft.limits.nodes);
  if (room) room = check_room("jobs", 0, options.jobs, draft.limits.jobs);
  if (!room) return fail(room.error().in(path));
  draft.plan = sim::random_plan(draft.plan.seed, options);
  return {};
}

Status read_plan(const json::value& value, const std::string& path, Draft& draft) {
  auto plan = from_json<sim::Plan>(value);
  if (!plan) return fail(plan.error().in(path));
  std::uint64_t seed = draft.plan.seed;
  draft.plan = std::move(*plan);
  draft.plan.seed = seed;
  return {};
}

Status read_pace(const json::value& value, const std::string& path, std::optional<PaceExpectation>& out) {
  Fields fields(value, path);
  PaceExpectation pace;
  const std::pair<const char*, std::int64_t*> times[] = {{"before_from", &pace.before.from_s},
                                                         {"before_to", &pace.before.to_s},
                                                         {"after_from", &pace.after.from_s},
                                                         {"after_to", &pace.after.to_s}};
  for (auto [name, time_s] : times) {
    Duration time = seconds(*time_s);
    fields.time(name, time);
    *time_s = time.s();
  }
  fields.number("within_permille", pace.within_permille, 1'000);
  TRY_STATUS(fields.finish());
  for (const sim::Span& span : {pace.before, pace.after}) {
    if (span.from_s < span.to_s) continue;
    return fail(ErrorCode::invalid, "{}: want before_from < before_to and after_from < after_to, in whole seconds",
                path);
  }
  out = pace;
  return {};
}

json::object pace_document(const PaceExpectation& pace) {
  return {{"before_from", pace.before.from_s},
          {"before_to", pace.before.to_s},
          {"after_from", pace.after.from_s},
          {"after_to", pace.after.to_s},
          {"within_permille", pace.within_permille}};
}

Status read_expectations(const json::value& value, const std::string& path, Expectations& expect) {
  Fields fields(value, path);
  auto optional = [&](std::string_view name, auto& out) {
    auto number = out.value_or(0);
    const bool there = fields.find(name) != nullptr;
    fields.number(name, number);
    if (there) out = number;
  };
  fields.flag("settled", expect.settled);
  optional("messages_per_placement_max", expect.messages_per_placement_max);
  optional("refused_permille_max", expect.refused_permille_max);
  fields.with("pace", [&](const json::value& pace, const std::string& at) { return read_pace(pace, at, expect.pace); });
  return fields.finish();
}

void read_parts(Fields& fields, Draft& draft) {
  auto with = [&](auto read) {
    return [&draft, read](const json::value& value, const std::string& at) { return read(value, at, draft); };
  };
  fields.with("random", with(read_random));
  fields.with("plan", with(read_plan));
  fields.time("calm_at", draft.plan.calm_at);
  fields.time("settle_within", draft.plan.settle_within);
  fields.time("rest", draft.plan.rest);
  fields.time("commit_latency", draft.plan.commit_latency);
  fields.flag("through_codec", draft.plan.through_codec);
  fields.each("nodes", with(read_nodes));
  fields.with("network", with(read_network));
  fields.each("work", with(read_work));
  fields.each("faults", with(read_fault));
  fields.with("chances", with(read_chances));
}

}  // namespace

Status check_room(const char* what, std::uint64_t there, std::uint64_t more, std::uint64_t most) {
  if (there <= most && more <= most - there) return {};
  return fail(ErrorCode::invalid, "{} more {} beside {} are too many: want at most {} in all", more, what, there, most);
}

Result<Scenario> parse_scenario(const json::value& document, std::optional<std::uint64_t> seed,
                                const ReadFile& read_file, const ScenarioLimits& limits) {
  Fields fields(document, "");
  Scenario scenario;
  std::uint64_t own_seed = 1;
  fields.text("about", scenario.about);
  fields.number("seed", own_seed, UINT64_MAX);
  Draft draft{{}, Prng(seed.value_or(own_seed) ^ 0x7363656e6172696f), read_file, limits};
  draft.plan.seed = seed.value_or(own_seed);
  draft.plan.settle_within = minutes(60);
  read_parts(fields, draft);
  fields.with("expect", [&](const json::value& value, const std::string& at) {
    return read_expectations(value, at, scenario.expect);
  });
  TRY_STATUS(fields.finish());
  TRY_STATUS(validate(draft.plan));
  scenario.plan = std::move(draft.plan);
  return scenario;
}

json::value scenario_document(const Scenario& scenario) {
  json::object expect{{"settled", scenario.expect.settled}};
  auto optional = [&](const char* name, const auto& value) {
    if (value) expect[name] = *value;
  };
  optional("messages_per_placement_max", scenario.expect.messages_per_placement_max);
  optional("refused_permille_max", scenario.expect.refused_permille_max);
  if (scenario.expect.pace) expect["pace"] = pace_document(*scenario.expect.pace);
  return json::object{{"about", scenario.about},
                      {"seed", scenario.plan.seed},
                      {"plan", to_json(scenario.plan)},
                      {"expect", std::move(expect)}};
}

}  // namespace abacus
