// What people see, to the letter.
#include "cli/render.h"

#include <gtest/gtest.h>

#include "cli/table.h"

namespace abacus {
namespace {

constexpr WallTime kStart{1'800'000'000LL * 1'000'000'000};

NodeId node_of(std::uint8_t byte) {
  NodeId node;
  node.bytes.fill(byte);
  return node;
}

TEST(Table, AlignsAndKeepsLinesWhole) {
  Table table({"NAME", ">N"});
  table.row({"é", "1"});
  table.row({"long\nname", "23"});
  EXPECT_EQ(table.to_string(),
            "NAME        N\n"
            "é           1\n"
            "long?name  23\n");
}

TEST(Render, Jobs) {
  EXPECT_EQ(render_jobs({}, kStart), "no jobs yet; submit one with: abacus run -- echo hello\n");
  JobView job;
  job.job = JobId::parse("0123456789ab").value();
  job.name = "count";
  job.command = {"sh", "-c", "a very long command line that does not fit"};
  job.tasks = 4;
  job.waiting = 1;
  job.placed = 2;
  job.succeeded = 1;
  job.spent = micro_credits(1'250'000);
  job.submitted_at = kStart;
  job.waiting_for = "all sellers are full";
  EXPECT_EQ(render_jobs({job}, kStart + seconds(90)),
            "JOB           NAME   STATE    TASKS  WAIT  RUN  DONE  FAILED    SPENT         AGE  COMMAND\n"
            "0123456789ab  count  running      4     1    2     1       0  1.25 cr  1 min 30 s  sh -c a very long "
            "command line that d...\n"
            "0123456789ab waits: all sellers are full\n");
}

TEST(Render, OneJob) {
  JobView job;
  job.job = JobId::parse("0123456789ab").value();
  job.command = {"true"};
  job.tasks = 3;
  job.succeeded = 1;
  job.failed = 1;
  job.ended = true;
  job.submitted_at = kStart;
  job.ended_at = kStart + seconds(5);
  job.budget = credits(2);
  TaskView done;
  done.task = {job.job, 0};
  done.phase = TaskPhase::ended;
  done.attempt = 1;
  done.seller = node_of(0xab);
  done.region = "north";
  done.rounds = 1;
  done.price = Price{100};
  done.cost = micro_credits(250);
  done.submitted_at = kStart;
  done.started_at = kStart + milliseconds(12);
  done.end.emplace();
  done.end->ended_at = kStart + milliseconds(2512);
  TaskView nowhere;
  nowhere.task = {job.job, 1};
  nowhere.end.emplace();
  nowhere.end->kind = EndKind::unplaceable;
  nowhere.end->message = "needs 8 GiB, the largest node has 2 GiB";
  EXPECT_EQ(render_job(job, {done, nowhere}, 1),
            "job 0123456789ab: failed\n"
            "  command    true\n"
            "  needs      1 CPU\n"
            "  tasks      3: 0 waiting, 0 placed, 1 done, 1 failed\n"
            "  spent      0.00 cr of 2.00 cr\n"
            "  submitted  2027-01-15T08:00:00Z\n"
            "  ended      2027-01-15T08:00:05Z, after 5 s\n"
            "\n"
            "TASK  STATE        NODE      REGION  TRY  ROUNDS      PRICE   WAIT    RUN        COST\n"
            "   0  done         abababab  north     1       1  0.36 cr/h  12 ms  2.5 s  0.00025 cr\n"
            "   1  unplaceable  -         -         0       0          -      -      -           -\n"
            "and 1 more; --all shows them\n"
            "\n"
            "task 1: needs 8 GiB, the largest node has 2 GiB\n");
}

TEST(Render, Explain) {
  ExplainView view;
  view.task.task = TaskId::parse("0123456789ab.7").value();
  view.summary = "runs on cdcdcdcd in south: the cheapest of two offers";
  NegotiationLine line;
  line.at = kStart;
  line.negotiation = 5;
  line.round = 1;
  line.step = NegotiationStep::declined;
  line.seller = node_of(0xab);
  line.region = "north";
  line.decline.emplace();
  line.decline->reason = DeclineReason::never_fits;
  line.decline->shortfalls = {{"memory_bytes", 8ull << 30, 2ull << 30}};
  view.lines.push_back(line);
  line = {};
  line.at = kStart + milliseconds(3);
  line.negotiation = 5;
  line.round = 1;
  line.step = NegotiationStep::accepted;
  line.seller = node_of(0xcd);
  line.region = "south";
  line.slots = 2;
  line.price = Price{100};
  line.score = micro_credits(500);
  line.text = "best score";
  view.lines.push_back(line);
  line.negotiation = 6;
  line.step = NegotiationStep::cooling_down;
  line.text = "again in 200 ms";
  view.lines.push_back(line);
  line = {};
  line.at = kStart + seconds(1);
  line.step = NegotiationStep::released;
  line.seller = node_of(0xcd);
  line.region = "south";
  line.text = "no more tasks";
  view.lines.push_back(line);
  EXPECT_EQ(render_explain(view),
            "task 0123456789ab.7: runs on cdcdcdcd in south: the cheapest of two offers\n"
            "\n"
            "episode 1, 2027-01-15T08:00:00Z\n"
            "ROUND  AFTER  SELLER    REGION  WHAT      SLOTS      PRICE      SCORE  WHY\n"
            "1       0 ns  abababab  north   declined      -          -          -  too large for it: memory: needs 8 "
            "GiB, has 2 GiB\n"
            "1       3 ms  cdcdcdcd  south   accepted      2  0.36 cr/h  0.0005 cr  best score\n"
            "\n"
            "episode 2, 2027-01-15T08:00:00Z\n"
            "ROUND  AFTER  SELLER    REGION  WHAT          SLOTS      PRICE      SCORE  WHY\n"
            "1       0 ns  cdcdcdcd  south   cooling down      2  0.36 cr/h  0.0005 cr  again in 200 ms\n"
            "\n"
            "afterwards, 2027-01-15T08:00:01Z\n"
            "ROUND  AFTER  SELLER    REGION  WHAT      SLOTS  PRICE  SCORE  WHY\n"
            "-       0 ns  cdcdcdcd  south   released      -      -      -  no more tasks\n");
}

TEST(Render, Plan) {
  PlanResult plan;
  plan.nodes_known = 5;
  PlanLine& offer = plan.lines.emplace_back();
  offer.seller = node_of(0xab);
  offer.region = "north";
  offer.expected_cost = micro_credits(6'000);
  offer.quote.emplace();
  offer.quote->lots = {{2, Price{100}, {}, {}}, {1, Price{200}, micro_credits(30), seconds(4)}};
  offer.quote->room_permille = 950;
  offer.quote->reason = {Price{20}, Price{50}, 1600, 500};
  PlanLine& decline = plan.lines.emplace_back();
  decline.seller = node_of(0xcd);
  decline.region = "south";
  decline.decline.emplace();
  decline.decline->reason = DeclineReason::no_room;
  decline.decline->nearest_count = 1;
  decline.decline->free_in = seconds(20);
  plan.lines.emplace_back().seller = node_of(0xef);
  EXPECT_EQ(render_plan(plan),
            "SELLER    REGION  SLOTS      PRICE         FEE  START IN  A TASK COSTS  ROOM  WHY THIS PRICE\n"
            "abababab  north       2  0.36 cr/h     0.00 cr       now      0.006 cr  95 %  energy 0.072 cr/h, capacity "
            "0.18 cr/h x 1.60, 50 % used\n"
            "                      1  0.72 cr/h  0.00003 cr       4 s\n"
            "\n"
            "SELLER    REGION  NO OFFER BECAUSE\n"
            "cdcdcdcd  south   no room now; 1 would fit now; room in 20 s\n"
            "efefefef          no answer in time\n"
            "\n"
            "5 nodes known; nothing was bought\n");
  EXPECT_EQ(render_plan({}),
            "nobody was asked: none of the 0 nodes known can take this job\n\n0 nodes known; nothing was bought\n");
}

TEST(Render, Nodes) {
  PeerView self;
  self.node = node_of(0xab);
  self.region = "north";
  self.capacity = {2000, 4ull << 30, 0, {{"gpu", "a100", 1, 0, true}}};
  self.self = true;
  PeerView other;
  other.node = node_of(0xcd);
  other.endpoint = Endpoint::parse("127.0.0.1:7411").value();
  other.capacity = {500, 0, 0, {}};
  other.suspect = true;
  other.round_trip = microseconds(300);
  other.age = seconds(12);
  other.last_price = Price{100};
  EXPECT_EQ(
      render_nodes({self, other}),
      "NODE      REGION  STATE     CAPACITY                              LAST PRICE  ROUND TRIP     HEARD  ENDPOINT\n"
      "abababab  north   this one  2 CPU, 4 GiB, 1 gpu:a100 (simulated)           -           -         -  -\n"
      "cdcdcdcd  -       suspect   0.5 CPU                                0.36 cr/h      300 us  12 s ago  "
      "127.0.0.1:7411\n");
}

TEST(Render, EndsInAWord) {
  TaskEnd end;
  EXPECT_EQ(end_text(end), "done");
  end.exit_code = 3;
  EXPECT_EQ(end_text(end), "exit 3");
  end.kind = EndKind::signalled;
  end.signal = 9;
  EXPECT_EQ(end_text(end), "signal 9");
}

}  // namespace
}  // namespace abacus
