// Scenario files: what they say is what is planned, mistakes are named with their place, and written plans come back.
#include "scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/yaml.h"
#include "scenario/report.h"
#include "sim/trial/trial.h"

namespace abacus {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Result<std::string> read_table_text(const std::string& name) {
  if (name == "nodes.csv")
    return std::string("sn,cpu_milli,memory_mib,gpu,model\na,4000,1024,0,\nb,8000,2048,2,V100\n");
  if (name == "jobs.csv") return std::string("t,end,cpu\n100.5,160.5,2000\n110,111,500\n");
  if (name == "rtt.csv") return std::string("from,x,y\nx,,20\ny,30,\n");
  return fail(ErrorCode::not_found, "cannot read {}", name);
}

Result<Scenario> parse(const std::string& yaml, std::optional<std::uint64_t> seed = std::nullopt) {
  TRY(boost::json::value document, json_of_yaml(yaml));
  return parse_scenario(document, seed, read_table_text);
}

std::string error_of(const std::string& yaml) {
  auto scenario = parse(yaml);
  return scenario ? "no error" : scenario.error().message;
}

TEST(Scenario, GroupsRulesAndFaultsBecomeAPlan) {
  auto scenario = parse(R"(
about: some
nodes: [{count: 3, regions: [x, y], cpus: 2, memory: 1GiB, gpus: 1, gpu_model: a}]
work: [{at: 2s, count: 2, every: 500ms, nodes: [1], run: 3s, job: {cpu: 1, array: 0-4}}]
faults: [{kind: cut, at: 1s, lasts: 4s, nodes: x}]
chances: {launch_fails: 7}
calm_at: 10s
expect: {messages_per_placement_max: 5}
)");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  const sim::Plan& plan = scenario->plan;
  ASSERT_THAT(plan.nodes, SizeIs(3));
  EXPECT_EQ(plan.nodes[1].region, "y");
  EXPECT_EQ(plan.nodes[2].capacity.cpu_milli, 2'000u);
  EXPECT_EQ(plan.nodes[2].capacity.devices.at(0).model, "a");
  ASSERT_THAT(plan.jobs, SizeIs(2));
  EXPECT_EQ(plan.jobs[1].at, milliseconds(2'500));
  EXPECT_EQ(plan.jobs[1].node, 1u);
  EXPECT_EQ(plan.jobs[1].spec.array.size(), 5u);
  EXPECT_EQ(plan.jobs[1].spec.expected_run, seconds(3));
  ASSERT_THAT(plan.faults, SizeIs(1));
  EXPECT_THAT(plan.faults[0].nodes, ElementsAre(0u, 2u));
  EXPECT_THAT(plan.chances, ElementsAre(sim::FaultChance{sim::FaultPoint::launch_fails, 7}));
  EXPECT_EQ(scenario->expect.messages_per_placement_max, 5u);
}

TEST(Scenario, TablesGiveMachinesArrivalsAndRoundTrips) {
  auto scenario = parse(R"(
nodes: [{csv: nodes.csv, count: 3, regions: [x, y]}]
network: {round_trips_csv: rtt.csv}
work: [{csv: jobs.csv, at: 1s, speed: 10, columns: {arrival_s: t, end_s: end, cpu_milli: cpu}}]
)");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  const sim::Plan& plan = scenario->plan;
  ASSERT_THAT(plan.nodes, SizeIs(3));
  EXPECT_EQ(plan.nodes[1].capacity.devices.at(0).count, 2u);
  EXPECT_EQ(plan.nodes[2].capacity.memory_bytes, 1ull << 30);
  ASSERT_THAT(plan.network.latencies, SizeIs(2));
  EXPECT_EQ(plan.network.latencies[0].latency, milliseconds(10));
  ASSERT_THAT(plan.jobs, SizeIs(2));
  EXPECT_EQ(plan.jobs[1].at, milliseconds(1'950));
  EXPECT_EQ(plan.jobs[0].spec.expected_run, seconds(6));
  EXPECT_EQ(plan.jobs[0].spec.bundle.cpu_milli, 2'000u);
}

TEST(Scenario, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(error_of("nodse: []"), HasSubstr("did you mean 'nodes'"));
  EXPECT_THAT(error_of("about: x"), HasSubstr("no nodes"));
  EXPECT_THAT(error_of("nodes: [{count: 0}]"), HasSubstr("nodes[0].count"));
  EXPECT_THAT(error_of("nodes: [{count: 1, memory: big}]"), HasSubstr("nodes[0].memory"));
  EXPECT_THAT(error_of("nodes: [{csv: no.csv}]"), HasSubstr("cannot read no.csv"));
  EXPECT_THAT(error_of("nodes: [{csv: jobs.csv}]"), AllOf(HasSubstr("jobs.csv"), HasSubstr("no column 'cpu_milli'")));
  EXPECT_THAT(error_of("nodes: [{count: 2}]\nfaults: [{kind: crahs, nodes: 1}]"),
              AllOf(HasSubstr("faults[0].kind"), HasSubstr("did you mean 'crash'")));
  EXPECT_THAT(error_of("nodes: [{count: 2}]\nfaults: [{kind: crash, nodes: 2}]"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(error_of("nodes: [{count: 2}]\nfaults: [{kind: crash, nodes: 1, lasts: 3s}]"), HasSubstr("calm_at"));
  EXPECT_THAT(error_of("nodes: [{count: 2}]\nwork: [{job: {cpus: 1}}]"), HasSubstr("work[0].job"));
  EXPECT_THAT(error_of("nodes: [{count: 2}]\nwork: [{run: soon}]"), HasSubstr("work[0].run"));
}

TEST(Scenario, ThatIsWrittenOutComesBackAndRunsTheSame) {
  auto scenario = parse("random: {nodes: 6, jobs: 4, working_time: 10s}\nseed: 5\nexpect: {refused_permille_max: 900}");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  auto document = json_of_yaml(boost::json::serialize(scenario_document(*scenario)));
  ASSERT_TRUE(document.has_value()) << document.error().message;
  auto again = parse_scenario(*document, std::nullopt, read_table_text);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(boost::json::serialize(scenario_document(*again)), boost::json::serialize(scenario_document(*scenario)));
  EXPECT_EQ(sim::run_trial(again->plan).state_hash, sim::run_trial(scenario->plan).state_hash);
}

TEST(Scenario, TheSeedDecidesWhatIsDrawn) {
  std::string yaml = "nodes: [{count: 40}]\nfaults: [{kind: pause, nodes: 30%}]";
  EXPECT_EQ(parse(yaml, 3)->plan.faults[0].nodes, parse(yaml, 3)->plan.faults[0].nodes);
  EXPECT_NE(parse(yaml, 3)->plan.faults[0].nodes, parse(yaml, 4)->plan.faults[0].nodes);
  EXPECT_THAT(parse(yaml, 3)->plan.faults[0].nodes, SizeIs(12));
}

TEST(Report, SaysWhatWasExpectedAndDidNotCome) {
  Scenario scenario;
  scenario.expect.messages_per_placement_max = 5;
  scenario.expect.refused_permille_max = 100;
  sim::TrialResult result;
  result.settled = true;
  result.placements = 10;
  result.messages = 60;
  result.overlay_messages = 10;
  result.awards = 10;
  result.awards_refused = 1;
  EXPECT_THAT(complaints(scenario, result), IsEmpty());
  result.messages = 61;
  result.awards_refused = 2;
  result.settled = false;
  EXPECT_THAT(complaints(scenario, result),
              ElementsAre(HasSubstr("some has not"), HasSubstr("there were 6"), HasSubstr("200 were")));
}

}  // namespace
}  // namespace abacus
