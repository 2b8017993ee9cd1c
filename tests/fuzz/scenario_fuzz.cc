// A scenario file with its tables is refused with a reason, or is a valid plan that comes back from its written form.
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <string>

#include "api/yaml.h"
#include "scenario/scenario.h"

namespace {

/// The input is the file and, each behind a separator, the tables "a.csv" and "b.csv".
constexpr char kSeparator = '\x1e';

/// Small, so that the fuzzer goes for what is near the limits and not for what is slow.
constexpr abacus::ScenarioLimits kLimits{
    .nodes = 500, .jobs = 500, .job_bytes = 8 << 20, .faults = 50, .struck = 5'000};

std::string part(const std::string& input, int number) {
  std::size_t begin = 0;
  for (; number > 0 && begin != std::string::npos; --number) {
    begin = input.find(kSeparator, begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return {};
  return input.substr(begin, input.find(kSeparator, begin) - begin);
}

std::string written(const abacus::Scenario& scenario) {
  return boost::json::serialize(abacus::scenario_document(scenario));
}

void check_that_it_comes_back(const abacus::Scenario& scenario, const abacus::ReadFile& read) {
  auto again = abacus::parse_scenario(abacus::scenario_document(scenario), std::nullopt, read, kLimits);
  if (!again || written(*again) != written(scenario)) std::abort();
  auto from_text = abacus::json_of_yaml(written(scenario));
  if (!from_text) return;  // Longer than a file may be.
  auto once_more = abacus::parse_scenario(*from_text, std::nullopt, read, kLimits);
  if (!once_more || written(*once_more) != written(scenario)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  auto read = [&](const std::string& name) -> abacus::Result<std::string> {
    if (name == "a.csv") return part(input, 1);
    if (name == "b.csv") return part(input, 2);
    return abacus::fail(abacus::ErrorCode::not_found, "there is no file {}", name);
  };
  auto document = abacus::json_of_yaml(part(input, 0));
  if (!document) return 0;
  auto scenario = abacus::parse_scenario(*document, std::nullopt, read, kLimits);
  if (!scenario) {
    if (scenario.error().message.empty()) std::abort();
    return 0;
  }
  if (!abacus::sim::validate(scenario->plan)) std::abort();
  check_that_it_comes_back(*scenario, read);
  return 0;
}
