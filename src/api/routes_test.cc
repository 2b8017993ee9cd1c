// Every route against a Service of tables, over a real socket and through the client.
#include "api/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/client.h"
#include "api/from_json.h"
#include "api/service_fixture.h"

namespace abacus {
namespace {

using testing::HasSubstr;
namespace json = boost::json;

class RoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    fake_.service.about.version = "1.2.3";
    fake_.start();
  }
  json::value get(const std::string& path) {
    auto answer = client_.get(path);
    EXPECT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->at("schema"), 1) << path;
    return *answer;
  }
  json::value post(const std::string& path, json::value body) {
    auto answer = client_.post(path, body);
    EXPECT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->at("schema"), 1) << path;
    return *answer;
  }
  std::string submit(json::object more = {}) {
    more["command"] = json::array{"echo", "hi"};
    return std::string(post("/v1/jobs", more).at("job").as_string());
  }
  HttpResponse raw(const std::string& method, const std::string& target, const std::string& body = "") {
    return http_call(fake_.server.target(), {method, target, body}).value();
  }

  ServedFake fake_;
  ApiClient client_{fake_.server.target()};
};

TEST_F(RoutesTest, SubmitsShowsAndCancels) {
  std::string id = submit({{"array", "0-3"}, {"name", "four"}});
  EXPECT_EQ(get("/v1/jobs").at("jobs").as_array().size(), 1u);
  auto view = from_json<JobView>(get("/v1/jobs/" + id));
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->job.to_string(), id);
  EXPECT_EQ(view->name, "four");
  EXPECT_EQ(view->tasks, 4u);
  auto tasks = from_json<std::vector<TaskView>>(get("/v1/jobs/" + id + "/tasks?offset=1&limit=2").at("tasks"));
  ASSERT_TRUE(tasks) << tasks.error().message;
  ASSERT_EQ(tasks->size(), 2u);
  EXPECT_EQ(tasks->front().task.index, 1u);
  EXPECT_EQ(get("/v1/tasks/" + id + ".3").at("phase"), "waiting");
  EXPECT_EQ(get("/v1/tasks/last.3/explain").at("task").at("task").as_string(), id + ".3");
  EXPECT_EQ(get("/v1/jobs/last").at("job").as_string(), id);
  EXPECT_EQ(post("/v1/jobs/" + id + "/cancel", json::object{{"index", 2}}).at("tasks"), 4);
  EXPECT_EQ(fake_.service.calls.back(), "cancel 2");
  EXPECT_EQ(raw("POST", "/v1/jobs/last/cancel").status, 200);
  EXPECT_EQ(fake_.service.calls.back(), "cancel");
}

TEST_F(RoutesTest, TellsStatusAndReasonOfErrors) {
  EXPECT_EQ(raw("GET", "/nowhere").status, 404);
  EXPECT_EQ(raw("GET", "/v1/jobs/0123456789ab").status, 404);
  EXPECT_EQ(raw("GET", "/v1/jobs/last").status, 404);
  EXPECT_EQ(raw("GET", "/v1/jobs/xyz").status, 400);
  EXPECT_EQ(raw("GET", "/v1/jobs?limit=many").status, 400);
  EXPECT_EQ(raw("GET", "/v1/jobs?limit=99999999").status, 400);
  EXPECT_EQ(raw("POST", "/v1/jobs", "{").status, 400);
  EXPECT_EQ(raw("POST", "/v1/drain", R"({"on": 1})").status, 400);
  EXPECT_EQ(raw("POST", "/v1/drain", R"({"no": true})").status, 400);
  EXPECT_EQ(raw("POST", "/v1/tokens", R"({"ttl": 5})").status, 400);
  EXPECT_EQ(raw("POST", "/v1/tokens", R"({"uses": 0})").status, 400);
  HttpResponse wrong_method = raw("DELETE", "/v1/jobs");
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.header("allow"), "POST, GET");
  auto error = client_.post("/v1/jobs", json::object{{"command", json::array{"x"}}, {"cpus", 1}});
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, ErrorCode::invalid);
  EXPECT_THAT(error.error().message, HasSubstr("unknown field 'cpus'"));
  EXPECT_TRUE(fake_.service.calls.empty());
}

TEST_F(RoutesTest, GivesLogsInPieces) {
  fake_.service.life = [](FakeJob& job, int) {
    job.logs[{0, LogStream::standard_output}] = std::string("a\0\xff b", 5);
    job.end_all({});
  };
  submit();
  auto piece = client_.read_log("last", LogStream::standard_output, 0);
  ASSERT_TRUE(piece) << piece.error().message;
  EXPECT_EQ(piece->bytes, std::string("a\0\xff b", 5));
  EXPECT_EQ(piece->next_offset, 5u);
  EXPECT_TRUE(piece->eof);
  HttpResponse part = raw("GET", "/v1/tasks/last/log?offset=1&limit=2");
  EXPECT_EQ(part.body, std::string("\0\xff", 2));
  EXPECT_EQ(part.header("x-abacus-next-offset"), "3");
  EXPECT_EQ(part.header("x-abacus-eof"), "false");
  EXPECT_EQ(raw("GET", "/v1/tasks/last/log?stream=stdin").status, 400);
}

TEST_F(RoutesTest, FollowsALogToTheTasksEnd) {
  submit();
  boost::asio::io_context context;
  std::thread writer([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      // Looking at the job runs `life` on the server's thread, which is the only one that may touch the service.
      EXPECT_TRUE(client_.get("/v1/jobs/last"));
    }
  });
  fake_.service.life = [](FakeJob& job, int looks) {
    job.logs[{0, LogStream::standard_output}] += fmt::format("line {}\n", looks);
    if (looks == 3) job.end_all({});
  };
  HttpResponse all = raw("GET", "/v1/tasks/last/log?follow=true");
  writer.join();
  EXPECT_EQ(all.body, "line 1\nline 2\nline 3\n");
}

TEST_F(RoutesTest, WaitsForAChange) {
  submit();
  fake_.service.life = [](FakeJob& job, int looks) {
    if (looks == 3) job.end_all({});
  };
  EXPECT_EQ(get("/v1/jobs/last?wait_ms=10000").at("ended"), true);
  EXPECT_EQ(raw("GET", "/v1/jobs/last?wait_ms=99999").status, 400);
}

TEST_F(RoutesTest, ServesTheRest) {
  EXPECT_EQ(get("/v1/info").at("version"), "1.2.3");
  EXPECT_TRUE(get("/v1/nodes").at("nodes").is_array());
  EXPECT_TRUE(get("/v1/leases").at("leases").is_array());
  EXPECT_TRUE(get("/v1/selling").at("leases").is_array());
  EXPECT_EQ(get("/v1/counters").at("placements"), 0);
  EXPECT_EQ(post("/v1/plan", json::object{{"command", json::array{"x"}}}).at("nodes_known"), 0);
  EXPECT_EQ(post("/v1/drain", json::object{}).at("on"), true);
  EXPECT_EQ(post("/v1/drain", json::object{{"on", false}}).at("on"), false);
  EXPECT_EQ(post("/v1/tokens", json::object{{"ttl", "2h"}, {"uses", 3}}).at("uses"), 3);
  EXPECT_EQ(raw("GET", "/metrics").content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(post("/v1/shutdown", json::object{{"end_work", true}}).at("stopping"), true);
  EXPECT_TRUE(fake_.service.stopped_with_work);
}

TEST(FromJson, ReadsWhatToJsonWrites) {
  TaskView task;
  task.task = TaskId::parse("0123456789ab.7").value();
  task.phase = TaskPhase::ended;
  task.price = Price{12};
  task.placed_at = WallTime{5};
  task.end.emplace();
  task.end->kind = EndKind::signalled;
  task.end->cpu_time = seconds(3);
  ExplainView view;
  view.task = task;
  NegotiationLine& line = view.lines.emplace_back();
  line.step = NegotiationStep::declined;
  line.decline.emplace();
  line.decline->shortfalls = {{"memory_bytes", 8, 2}};
  auto back = from_json<ExplainView>(to_json(view));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(view));
}

TEST(FromJson, KeepsDefaultsAndSaysWhere) {
  auto partial = from_json<JobView>(json::parse(R"({"tasks": 3, "new_field": 1})"));
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->tasks, 3u);
  auto wrong = from_json<TaskView>(json::parse(R"({"end": {"exit_code": "x"}})"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "end: exit_code: not an integer in range");
  EXPECT_FALSE(from_json<TaskView>(json::parse(R"({"phase": "asleep"})")));
  EXPECT_FALSE(from_json<JobView>(json::parse(R"({"tasks": 4294967296})")));
}

}  // namespace
}  // namespace abacus
