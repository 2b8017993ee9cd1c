// What is too much, too long or out of all range is refused before it takes memory, and the message says what is right.
#include "scenario/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/yaml.h"
#include "scenario/scenario.h"

namespace abacus {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr ScenarioLimits kSmall{.nodes = 10, .jobs = 20, .job_bytes = 100'000, .faults = 3, .struck = 12};

Result<Scenario> parse(const std::string& yaml, const std::string& table, const ScenarioLimits& limits) {
  TRY(boost::json::value document, json_of_yaml(yaml));
  return parse_scenario(
      document, std::nullopt, [&](const std::string&) -> Result<std::string> { return table; }, limits);
}

std::string error_of(const std::string& yaml, const std::string& table = "", const ScenarioLimits& limits = {}) {
  auto scenario = parse(yaml, table, limits);
  return scenario ? "no error" : scenario.error().message;
}

TEST(ScenarioLimits, NodesAreCountedOverAllGroups) {
  EXPECT_THAT(error_of("nodes: [{count: 4000000000}]"), AllOf(HasSubstr("nodes[0].count"), HasSubstr("100000 in all")));
  EXPECT_THAT(error_of("nodes: [{count: 6}, {count: 5}]", "", kSmall), HasSubstr("nodes[1].count: 5 more nodes"));
  EXPECT_THAT(error_of("nodes: [{csv: t, count: 11}]", "cpu_milli,memory_mib,gpu,model\n1,1,0,\n", kSmall),
              HasSubstr("nodes[0].count"));
  EXPECT_THAT(error_of("random: {nodes: 11}", "", kSmall), HasSubstr("random: 11 more nodes"));
  EXPECT_THAT(error_of("nodes: [{count: 6}, {count: 4}]", "", kSmall), "no error");
}

TEST(ScenarioLimits, JobsAreCountedOverAllRulesAndByTheirSize) {
  EXPECT_THAT(error_of("nodes: [{count: 1}]\nwork: [{count: 4000000000}]"),
              AllOf(HasSubstr("work[0]"), HasSubstr("1000000 in all")));
  EXPECT_THAT(error_of("nodes: [{count: 1}]\nwork: [{count: 15}, {count: 6}]", "", kSmall),
              HasSubstr("work[1]: 6 more"));
  EXPECT_THAT(error_of(
                  "nodes: [{count: 1}]\nwork: [{csv: t, rows: 30}]",
                  "arrival_s,run_s" +
                      [] {
                        std::string rows;
                        for (int i = 0; i < 21; ++i) rows += "\n1,1";
                        return rows;
                      }(),
                  kSmall),
              HasSubstr("21 more jobs"));
  const std::string large = "{count: 15, job: {environment: {A: " + std::string(10'000, 'x') + "}}}";
  EXPECT_THAT(error_of("nodes: [{count: 1}]\nwork: [" + large + "]", "", kSmall), HasSubstr("bytes of jobs"));
  EXPECT_THAT(error_of("nodes: [{count: 1}]\nwork: [{count: 15}, {count: 5}]", "", kSmall), "no error");
}

TEST(ScenarioLimits, FaultsAreCountedAndWhomTheyStrike) {
  const std::string head = "nodes: [{count: 10}]\nfaults: [";
  EXPECT_THAT(error_of(head + "{kind: pause, nodes: 100%}, {kind: pause, nodes: 30%}]", "", kSmall),
              AllOf(HasSubstr("faults[1]"), HasSubstr("nodes struck")));
  std::string four;
  for (int i = 0; i < 4; ++i) four += "{kind: pause, nodes: 1}, ";
  EXPECT_THAT(error_of(head + four + "]", "", kSmall), HasSubstr("faults[3]: 1 more faults"));
}

TEST(ScenarioLimits, TimesStayWithinAYear) {
  const std::string node = "nodes: [{count: 1}]\n";
  EXPECT_THAT(error_of(node + "calm_at: 366d"), HasSubstr("calm_at"));
  EXPECT_THAT(error_of(node + "settle_within: -5"), HasSubstr("settle_within"));
  EXPECT_THAT(error_of(node + "rest: -5"), HasSubstr("rest"));
  EXPECT_THAT(error_of(node + "expect: {pace: {before_from: 5s, before_to: 2s}}"),
              HasSubstr("before_from < before_to"));
  EXPECT_THAT(error_of(node + "network: {jitter: 2h}"),
              AllOf(HasSubstr("network: the jitter"), HasSubstr("0 ns to 1 h")));
  EXPECT_THAT(error_of(node + "work: [{count: 1000, every: 1d}]"),
              AllOf(HasSubstr("work[0]"), HasSubstr("one every 24 h")));
  EXPECT_THAT(error_of(node + "work: [{at: 99y}]"), HasSubstr("work[0].at"));
  EXPECT_THAT(error_of(node + "work: [{cancel_after: 400d}]"), HasSubstr("job 0: the time until it is cancelled"));
  EXPECT_THAT(error_of("random: {working_time: 1s}"), HasSubstr("random.working_time: 1 s is too short"));
}

TEST(ScenarioLimits, NumbersOfTablesStayWithinWhatAMachineHas) {
  const std::string head = "cpu_milli,memory_mib,gpu,model\n";
  EXPECT_THAT(error_of("nodes: [{csv: t}]", head + "4294968296,1,0,\n"),
              AllOf(HasSubstr("t: row 1, column 'cpu_milli'"), HasSubstr("from 0 to 100000000")));
  EXPECT_THAT(error_of("nodes: [{csv: t}]", head + "1,99999999999999,0,\n"), HasSubstr("'memory_mib'"));
  EXPECT_THAT(error_of("nodes: [{csv: t}]", head), HasSubstr("a header only"));
  EXPECT_THAT(error_of("nodes: [{count: 1}]\nwork: [{csv: t}]", "arrival_s,run_s\n1,9000000000000000\n"),
              HasSubstr("column 'run_s'"));
  EXPECT_THAT(error_of("nodes: [{count: 1}]\nnetwork: {round_trips_csv: t}", "from,x\nx,1\ny,2\n"),
              HasSubstr("no column 'y'"));
}

TEST(ScenarioLimits, NamesOfRegionsAreShortAndFew) {
  EXPECT_THAT(error_of("nodes: [{count: 1, region: " + std::string(65, 'r') + "}]"), HasSubstr("nodes[0].region"));
  std::string regions;
  for (int i = 0; i < 1'001; ++i) regions += "r" + std::to_string(i) + ", ";
  EXPECT_THAT(error_of("nodes: [{count: 1001, regions: [" + regions + "]}]"),
              HasSubstr("1001 regions: want at most 1000"));
}

TEST(ScenarioLimits, APlanWrittenOutIsHeldToTheSameRanges) {
  auto error = [](const std::string& rest) {
    return error_of("plan: {nodes: [{region: a, capacity: {cpu_milli: 1000}}], " + rest + "}");
  };
  EXPECT_THAT(error("jobs: [{spec: {work: {command: [sim]}, array: {step: 0}}}]"), HasSubstr("job 0: array step 0"));
  EXPECT_THAT(error("jobs: [{spec: {}}]"), HasSubstr("job 0: no command"));
  EXPECT_THAT(error("network: {jitter_ns: -1}"), HasSubstr("network: the jitter is -1 ns"));
  EXPECT_THAT(error("network: {tail_times: 10001}"), HasSubstr("10001 times"));
  EXPECT_THAT(error("overlay: {shuffle: {period_ns: 0}}"), HasSubstr("overlay: shuffle: period is 0 ns"));
  EXPECT_THAT(error("calm_at_ns: 9, faults: [{at_ns: 9223372036854775807, lasts_ns: 9, nodes: [0]}]"),
              HasSubstr("fault 0: its beginning"));
  EXPECT_THAT(error("faults: [{kind: slow, by_ns: -9, nodes: [0]}]"), HasSubstr("'by' is -9 ns"));
  EXPECT_THAT(error("buying: {linger_ns: 0}"), "no error");
}

TEST(ScenarioLimits, TheLargestSeedComesBack) {
  auto scenario = parse("nodes: [{count: 1}]\nseed: 18446744073709551615", "", {});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  auto again = parse(boost::json::serialize(scenario_document(*scenario)), "", {});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->plan.seed, UINT64_MAX);
}

}  // namespace
}  // namespace abacus
