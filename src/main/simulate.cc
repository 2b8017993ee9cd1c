// abacus sim: reads a scenario, runs its seeds on all cores, says what is wrong and how to see it again.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <ostream>
#include <sstream>
#include <thread>
#include <vector>

#include "api/yaml.h"
#include "cli/exit_codes.h"
#include "main/actions.h"
#include "main/sim_speed.h"
#include "scenario/report.h"
#include "scenario/trace.h"
#include "sim/trial/shrink.h"

namespace abacus {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::size_t kComplaintsShown = 5;

Result<std::string> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return fail(ErrorCode::not_found, "cannot read {}", path.string());
  return text.str();
}

Status write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (file.flush()) return {};
  return fail(ErrorCode::internal, "cannot write {}", path.string());
}

/// A scenario file, parsed anew for each seed: what it draws depends on the seed.
class ScenarioFile {
 public:
  static Result<ScenarioFile> open(const std::string& path) {
    TRY(std::string text, read_text(path));
    auto document = json_of_yaml(text);
    if (!document) return fail(document.error().in(path));
    return ScenarioFile(path, std::move(*document));
  }

  Result<Scenario> with_seed(std::optional<std::uint64_t> seed) const {
    auto read = [&](const std::string& name) { return read_text(path_.parent_path() / name); };
    auto scenario = parse_scenario(document_, seed, read);
    if (!scenario) return fail(scenario.error().in(path_.string()));
    return scenario;
  }

  const fs::path& path() const { return path_; }

 private:
  ScenarioFile(fs::path path, json::value document) : path_(std::move(path)), document_(std::move(document)) {}

  fs::path path_;
  json::value document_;
};

struct Run {
  Scenario scenario;
  sim::TrialResult result;
};

Result<Run> run_one(const ScenarioFile& file, std::optional<std::uint64_t> seed, sim::Checker* onlooker = nullptr) {
  TRY(Scenario scenario, file.with_seed(seed));
  sim::TrialResult result = sim::run_trial(scenario.plan, {}, onlooker);
  return Run{std::move(scenario), std::move(result)};
}

Result<Run> run_traced(const ScenarioFile& file, const SimSettings& settings) {
  std::ofstream out(settings.trace_file, std::ios::binary);
  if (!out) return fail(ErrorCode::internal, "cannot write {}", settings.trace_file);
  TraceWriter writer(out);
  auto run = run_one(file, settings.first_seed, &writer);
  if (!out.flush()) return fail(ErrorCode::internal, "cannot write all of {}", settings.trace_file);
  return run;
}

Status shrink_it(const ScenarioFile& file, const Run& run, std::ostream& out) {
  auto fails = [&](const sim::Plan& plan) {
    Scenario candidate{run.scenario.about, plan, run.scenario.expect};
    return !complaints(candidate, sim::run_trial(plan)).empty();
  };
  sim::Shrunk shrunk = sim::shrink(run.scenario.plan, fails);
  std::string name = fmt::format("{}-seed-{}.json", file.path().stem().string(), run.scenario.plan.seed);
  Scenario smaller{run.scenario.about, shrunk.plan, run.scenario.expect};
  TRY_STATUS(write_text(name, json::serialize(scenario_document(smaller)) + "\n"));
  out << fmt::format("  shrunk in {} runs to {} nodes, {} jobs, {} faults, {} rare paths: abacus sim {}\n",
                     shrunk.tries, shrunk.plan.nodes.size(), shrunk.plan.jobs.size(), shrunk.plan.faults.size(),
                     shrunk.plan.chances.size(), name);
  return {};
}

/// Prints a run. True if it is good.
Result<bool> show(const ScenarioFile& file, const Run& run, bool shrink, std::ostream& out) {
  std::vector<std::string> wrong = complaints(run.scenario, run.result);
  out << summary(run.scenario, run.result) << (wrong.empty() ? "" : ": FAILED") << "\n";
  if (wrong.empty()) return true;
  for (std::size_t i = 0; i < wrong.size() && i < kComplaintsShown; ++i) out << "  " << wrong[i] << "\n";
  if (wrong.size() > kComplaintsShown) out << "  and " << wrong.size() - kComplaintsShown << " more\n";
  out << fmt::format("  again: abacus sim {} --seed {}\n", file.path().string(), run.scenario.plan.seed);
  if (shrink) TRY_STATUS(shrink_it(file, run, out));
  return false;
}

/// As many at once as there are cores; shown in the order of the seeds.
class Seeds {
 public:
  Seeds(const ScenarioFile& file, const SimSettings& settings) : file_(file), settings_(settings) {}

  Result<int> run(std::ostream& out) {
    std::uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::uint64_t first = *settings_.first_seed, failed = 0;
    for (std::uint64_t at = first; at <= settings_.last_seed; at += cores) {
      std::vector<std::future<Result<Run>>> batch;
      for (std::uint64_t seed = at; seed < at + cores && seed <= settings_.last_seed; ++seed) {
        batch.push_back(std::async(std::launch::async, [this, seed] { return run_one(file_, seed); }));
      }
      for (auto& pending : batch) {
        TRY(Run run, pending.get());
        TRY(bool good, show(file_, run, settings_.shrink && failed == 0, out));
        if (!good) ++failed;
        reports_.push_back(report_of(run.scenario, run.result));
      }
    }
    out << fmt::format("{} seeds, {} failed\n", settings_.last_seed - first + 1, failed);
    return failed == 0 ? 0 : kExitFailure;
  }

  json::array take_reports() { return std::move(reports_); }

 private:
  const ScenarioFile& file_;
  const SimSettings& settings_;
  json::array reports_;
};

}  // namespace

Result<int> simulate(const SimSettings& settings, const CliStreams& streams) {
  TRY(ScenarioFile file, ScenarioFile::open(settings.scenario));
  json::array reports;
  int code = 0;
  if (settings.first_seed && settings.last_seed > *settings.first_seed) {
    Seeds seeds(file, settings);
    TRY(code, seeds.run(streams.out));
    reports = seeds.take_reports();
  } else {
    SpeedGauge gauge;
    TRY(Run run, settings.trace_file.empty() ? run_one(file, settings.first_seed) : run_traced(file, settings));
    if (settings.speed) streams.out << gauge.report(run.scenario.plan.nodes.size(), run.result) << "\n";
    TRY(bool good, show(file, run, settings.shrink, streams.out));
    code = good ? 0 : kExitFailure;
    reports.push_back(report_of(run.scenario, run.result));
  }
  if (!settings.json_file.empty()) TRY_STATUS(write_text(settings.json_file, json::serialize(reports) + "\n"));
  return code;
}

}  // namespace abacus
