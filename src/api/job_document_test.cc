// Job documents: what is read, and what each mistake is told.
#include "api/job_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/json.hpp>

#include "api/json_text.h"
#include "protocol/json_form.h"

namespace abacus {
namespace {

using testing::HasSubstr;

constexpr WallTime kNow{1'800'000'000LL * 1'000'000'000};

Result<SubmitRequest> parse(std::string_view text) {
  TRY(auto json, parse_json(text));
  return parse_job_document(json, kNow);
}

std::string error_of(std::string_view text) {
  auto request = parse(text);
  if (request) return "accepted: " + std::string(text);
  EXPECT_EQ(request.error().code, ErrorCode::invalid);
  return request.error().message;
}

TEST(JobDocument, ReadsEveryField) {
  auto request = parse(R"({"name": "render", "command": ["ffmpeg", "-i", "in.mp4"], "environment": {"A": "1", "B": ""},
    "cpu": 0.5, "memory": "4GiB", "disk": "10 GB", "gpu": "a100:2", "devices": [{"kind": "fpga", "count": 3}],
    "array": "0-98:2%4", "regions": ["north", "south"], "budget": 2.5, "deadline": "2h", "time_limit": "10m", "grace": 5,
    "expected_run": "1.5s", "lost_after": "2m", "urgency": "0.72", "repeat": "at_most_once", "attempts_max": 3,
    "inputs": ["/data/in.mp4", "/data/x:y/z", {"source": "/a", "name": "b"}], "outputs": ["out/*.png"],
    "output_dir": "/out/{job}", "log_cap": "1MiB", "pids_max": 64})");
  ASSERT_TRUE(request) << request.error().message;
  SubmitRequest want;
  want.spec.name = "render";
  want.spec.work.command = {"ffmpeg", "-i", "in.mp4"};
  want.spec.work.environment = {{"A", "1"}, {"B", ""}};
  want.spec.bundle = {500, 4ull << 30, 10'000'000'000, {{"gpu", "a100", 2}, {"fpga", "", 3}}};
  want.spec.array = {0, 98, 2, 4};
  want.spec.is_array = true;
  want.spec.regions = {"north", "south"};
  want.spec.budget = micro_credits(2'500'000);
  want.spec.deadline = kNow + hours(2);
  want.spec.work.time_limit = minutes(10);
  want.spec.work.grace = seconds(5);
  want.spec.expected_run = milliseconds(1500);
  want.spec.lost_after = minutes(2);
  want.spec.urgency = Price{200};
  want.spec.repeat = Repeat::at_most_once;
  want.spec.attempts_max = 3;
  want.inputs = {{"/data/in.mp4", "in.mp4"}, {"/data/x", "y/z"}, {"/a", "b"}};
  want.spec.work.outputs = {"out/*.png"};
  want.spec.output_dir = "/out/{job}";
  want.spec.work.log_cap_bytes = 1 << 20;
  want.spec.work.pids_max = 64;
  EXPECT_EQ(*request, want);
}

TEST(JobDocument, ReadsExactForms) {
  auto request = parse(R"({"command": ["x"], "cpu_milli": 250, "memory_bytes": 1024, "budget_micro": 7,
    "deadline_ns": 1800000000000000001, "time_limit_ns": 5, "urgency_micro_per_s": 9,
    "array": {"first": 3, "last": 9, "running_max": 2}})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->spec.bundle.cpu_milli, 250u);
  EXPECT_EQ(request->spec.bundle.memory_bytes, 1024u);
  EXPECT_EQ(request->spec.budget, micro_credits(7));
  EXPECT_EQ(request->spec.deadline, kNow + nanoseconds(1));
  EXPECT_EQ(request->spec.work.time_limit, nanoseconds(5));
  EXPECT_EQ(request->spec.urgency, Price{9});
  EXPECT_EQ(request->spec.array, (ArraySpec{3, 9, 1, 2}));
}

TEST(JobDocument, SaysWhatIsWrongWhereAndWhatWouldBeRight) {
  EXPECT_THAT(error_of("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("command: missing"));
  EXPECT_THAT(error_of(R"({"command": "echo hi"})"), HasSubstr(R"(command: "echo hi" is not a list of texts)"));
  EXPECT_THAT(error_of(R"({"command": ["a", 1]})"), HasSubstr("command: [1]: 1 is not a text"));
  EXPECT_THAT(error_of(R"({"command": []})"), HasSubstr("no command"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "memry": 1})"),
              HasSubstr("unknown field 'memry'; did you mean 'memory'?"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "memory": "much"})"), HasSubstr("memory: 'much' is not a size"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "memory": 1, "memory_bytes": 1})"), HasSubstr("say the same"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "cpu": 0})"), HasSubstr("cpu: '0' is not a number of CPUs"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "budget": "-1"})"), HasSubstr("budget cannot be negative"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "deadline": "1999-01-01T00:00:00Z"})"), HasSubstr("is past"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "array": "9-0"})"), HasSubstr("array: array 9-0 runs backwards"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "inputs": ["rel"]})"),
              HasSubstr("inputs: [0]: 'rel' must be an absolute"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "inputs": ["/a:../b"]})"), HasSubstr("without '..'"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "inputs": ["/a", "/b/a"]})"), HasSubstr("two inputs are named 'a'"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "outputs": ["/etc/passwd"]})"),
              HasSubstr("outputs: '/etc/passwd' must be"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "output_dir": "out"})"),
              HasSubstr("output_dir: 'out' must be an absolute"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "devices": [{"kind": "gpu", "cout": 1}]})"),
              HasSubstr("did you mean 'count'"));
  EXPECT_THAT(error_of(R"({"command": ["a"], "environment": {"A=B": "1"}})"), HasSubstr("environment variable"));
  EXPECT_THAT(error_of("{\"command\": "), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(std::string(100, '[')), HasSubstr("not JSON"));
}

TEST(Grammar, Arrays) {
  EXPECT_EQ(parse_array("0-99").value(), (ArraySpec{0, 99, 1, 0}));
  EXPECT_EQ(parse_array("0-99:2").value(), (ArraySpec{0, 99, 2, 0}));
  EXPECT_EQ(parse_array("0-15%4").value(), (ArraySpec{0, 15, 1, 4}));
  EXPECT_EQ(parse_array("5-25:5%2").value(), (ArraySpec{5, 25, 5, 2}));
  EXPECT_EQ(parse_array("7").value(), (ArraySpec{7, 7, 1, 0}));
  EXPECT_EQ(parse_array("5-25:5").value().size(), 5u);
  for (const char* text : {"", "-", "1-", "-1", "a-b", "1,3", "0-9:0", "0-9%0", "9-1", "0-9:x", "7:2", "0-4294967296",
                           "0-9%2:3", " 0-9", "0-4000000"}) {
    EXPECT_FALSE(parse_array(text)) << text;
  }
}

TEST(Grammar, SmallTexts) {
  EXPECT_EQ(parse_cpu_milli("2").value(), 2000u);
  EXPECT_EQ(parse_cpu_milli("500m").value(), 500u);
  EXPECT_EQ(parse_cpu_milli("0.125").value(), 125u);
  for (const char* text : {"", "m", "0", "-1", "0.0005", "2 CPUs", "99999999999"})
    EXPECT_FALSE(parse_cpu_milli(text)) << text;
  EXPECT_EQ(parse_gpu("2").value(), (DeviceNeed{"gpu", "", 2}));
  EXPECT_EQ(parse_gpu("a100").value(), (DeviceNeed{"gpu", "a100", 1}));
  EXPECT_EQ(parse_gpu("a100:8").value(), (DeviceNeed{"gpu", "a100", 8}));
  for (const char* text : {"", "0", ":2", "a100:", "a100:x", "a100:0"}) EXPECT_FALSE(parse_gpu(text)) << text;
  EXPECT_EQ(parse_urgency("normal").value(), JobSpec{}.urgency);
  EXPECT_LT(parse_urgency("low").value(), parse_urgency("high").value());
  EXPECT_EQ(parse_urgency("3.6").value(), Price{1'000});
  EXPECT_FALSE(parse_urgency("urgent"));
  EXPECT_EQ(parse_input("a/b/").value(), (InputPath{"a/b/", "b"}));
  EXPECT_FALSE(parse_input(""));
  EXPECT_FALSE(parse_input(":x"));
  EXPECT_FALSE(parse_input("/"));
}

RC_GTEST_PROP(Grammar, AnyTextIsReadOrRefused, (const std::string& text)) {
  if (auto array = parse_array(text)) RC_ASSERT(validate(*array).has_value());
  if (auto need = parse_gpu(text)) RC_ASSERT(validate(*need).has_value());
  if (auto input = parse_input(text)) RC_ASSERT(!input->name.empty());
  static_cast<void>(parse_cpu_milli(text));
  static_cast<void>(parse_urgency(text));
  static_cast<void>(parse_json(text));
}

boost::json::value any_json() {
  switch (*rc::gen::inRange(0, 6)) {
    case 0: return *rc::gen::arbitrary<std::int64_t>();
    case 1: return boost::json::string(*rc::gen::string<std::string>());
    case 2: return nullptr;
    case 3: return *rc::gen::arbitrary<double>();
    case 4: return boost::json::array{"x", 1};
    default: return boost::json::object{{"first", 1}, {"kind", "gpu"}};
  }
}

RC_GTEST_PROP(JobDocument, WhatIsAcceptedIsValid, ()) {
  boost::json::object document{{"command", boost::json::array{"true"}}};
  auto fields = job_document_fields();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    document[fields[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(fields.size())))]] = any_json();
  }
  auto request = parse_job_document(document, kNow);
  if (!request) RC_SUCCEED("refused");
  RC_ASSERT(validate(request->spec).has_value());
  RC_ASSERT(validate(request->spec.bundle).has_value());
}

}  // namespace
}  // namespace abacus
