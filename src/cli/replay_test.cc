// What a user sees of a recording: steps, stories of jobs and tasks, where it stops, and what is wrong with it.
#include <boost/json.hpp>
#include <regex>

#include "cli/brief_text.h"
#include "cli/cli_fixture.h"
#include "cli/mentions.h"
#include "core/node.h"
#include "core/recording/entry.h"
#include "core/recording/entry_writer.h"
#include "core/recording/frame.h"

namespace abacus {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr WallTime kStart{1'800'000'000LL * 1'000'000'000};  // 2027-01-15T08:00:00Z

/// A node without a market that is given two jobs, a second apart, and is woken up.
class ReplayTest : public CliTest {
 protected:
  ReplayTest() {
    NodeConfig config;
    config.self.node.bytes[0] = 0xab;
    config.region = "here";
    config.capacity.cpu_milli = 4'000;
    Node node(config, {});
    Effects effects;
    node.start(at(0), effects);
    writer_.started(config, {}, at(0), effects);
    for (int i = 1; i <= 2; ++i) {
      JobSpec spec;
      spec.work.command = {"echo", "job", std::to_string(i)};
      spec.array = {0, 2, 1, 0};
      spec.is_array = true;
      handle(node, SubmitJob{static_cast<RequestId>(i), spec}, at(i));
    }
    handle(node, WakeUp{}, at(5));
    auto jobs = node.buying().jobs(at(5), 10);
    first_ = jobs[1].job.to_string();
    second_ = jobs[0].job.to_string();
  }

  static Now at(int s) { return {MonoTime{seconds(100 + s).ns}, kStart + seconds(s)}; }

  void handle(Node& node, const Event& event, Now now) {
    Effects effects;
    node.handle(event, now, effects);
    writer_.handled(event, now, effects);
  }

  /// `abacus replay` of what was recorded, or of other bytes.
  CliResult replay(std::vector<std::string> words, const Bytes& file) {
    words.insert(words.begin(), {"replay", write_file("recording", std::string(as_text(file)))});
    return cli(std::move(words));
  }
  CliResult replay(std::vector<std::string> words) { return replay(std::move(words), file_); }

  Bytes file_ = recording_header("0.9");
  EntryWriter writer_{"0.9", 0, [this](BytesView frames) { file_.insert(file_.end(), frames.begin(), frames.end()); }};
  std::string first_, second_;
};

TEST_F(ReplayTest, TellsEventsAndWhatCameOfThem) {
  CliResult result = replay({});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("#1 08:00:00.000000 node ab000000 starts for the 1. time, on 2027-01-15, by "
                                    "version 0.9\n    put NodeRecord epoch=1"));
  EXPECT_THAT(result.out, HasSubstr("#2 08:00:01.000000 SubmitJob request=1 spec={work={command=[echo, job, 1]"));
  EXPECT_THAT(result.out, HasSubstr("    put JobRecord job=" + first_));
  EXPECT_THAT(result.out, HasSubstr("    => Answer request=1 answer={job=" + first_ + " tasks=3}"));
  EXPECT_THAT(result.out, HasSubstr("#4 08:00:05.000000 WakeUp\n"));
  EXPECT_THAT(result.out, HasSubstr("\n3 events replayed in 1 run of the node, up to 2027-01-15T08:00:05Z; digest "));
  EXPECT_THAT(result.out, HasSubstr(", equal to what was recorded\n"));
}

TEST_F(ReplayTest, TellsTheStoryOfOneJobOrTask) {
  CliResult job = replay({"--job", first_});
  EXPECT_THAT(job.out, HasSubstr("JobRecord job=" + first_));
  EXPECT_THAT(job.out, Not(HasSubstr(second_)));
  EXPECT_THAT(replay({"--task", second_ + ".1"}).out, HasSubstr("JobRecord job=" + second_));
  EXPECT_THAT(replay({"--job", "nonsense"}).err, HasSubstr("--job 'nonsense': want the 12 digits of a job"));
  EXPECT_THAT(replay({"--task", "nonsense"}).err, HasSubstr("--task 'nonsense': want JOB or JOB.INDEX"));
  EXPECT_EQ(replay({"--task", first_, "--job", first_}).code, 2);
}

TEST_F(ReplayTest, StopsAtAnEntryOrATime) {
  EXPECT_THAT(replay({"--until", "2"}).out,
              HasSubstr("\n1 event replayed in 1 run of the node, up to 2027-01-15T08:00:01Z"));
  EXPECT_THAT(replay({"--until", "08:00:01.5", "--quiet"}).out, testing::StartsWith("1 event replayed"));
  EXPECT_THAT(replay({"--until", "08:00:02", "--quiet"}).out, testing::StartsWith("2 events replayed"));
  EXPECT_THAT(replay({"--until", "07:59:59", "--quiet"}).out, testing::StartsWith("3 events replayed"));
  EXPECT_THAT(replay({"--until", "2027-01-15T08:00:03Z", "--quiet"}).out, testing::StartsWith("2 events replayed"));
  for (const char* wrong : {"soon", "08:00:01,5", "08:00:01.", "25:00:00", "-1", "1e3"}) {
    CliResult result = replay({"--until=" + std::string(wrong)});
    EXPECT_EQ(result.code, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr("want an entry's number")) << wrong;
  }
}

TEST_F(ReplayTest, ExplainsATaskAsItStoodThen) {
  CliResult result = replay({"--quiet", "--task", first_ + ".1", "--why"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("task " + first_ + ".1: "));
  CliResult early = replay({"--quiet", "--job", second_, "--until", "2", "--why"});
  EXPECT_NE(early.code, 0);
  EXPECT_THAT(early.err, HasSubstr(second_));
  EXPECT_THAT(replay({"--why"}).err, HasSubstr("--why needs --task or --job"));
}

TEST_F(ReplayTest, HasEveryFieldInJson) {
  CliResult result = replay({"--json", "--job", first_, "--why"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::istringstream lines(result.out);
  std::vector<boost::json::value> values;
  for (std::string line; std::getline(lines, line);) values.push_back(boost::json::parse(line));
  ASSERT_GE(values.size(), 2u);
  EXPECT_EQ(values[0].at("entry").as_int64(), 2);
  EXPECT_EQ(values[0].at("event").at("kind").as_string(), "SubmitJob");
  EXPECT_EQ(values[0].at("event").at("fields").at("spec").at("work").at("command").as_array().size(), 3u);
  EXPECT_EQ(values[0].at("changes").at(0).at("kind").as_string(), "JobRecord");
  EXPECT_TRUE(values.back().at("equal").as_bool());
  EXPECT_EQ(values.back().at("events").as_int64(), 3);
  EXPECT_EQ(values.back().at("explain").at("task").at("task").as_string(), first_ + ".0");
}

TEST_F(ReplayTest, NamesATornTail) {
  Bytes torn(file_.begin(), file_.end() - 3);
  CliResult result = replay({"--quiet"}, torn);
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(std::regex_search(
      result.out, std::regex("ends in the middle of entry 4, after 08:00:02.000000; [0-9]+ bytes left out\n")))
      << result.out;
}

TEST_F(ReplayTest, NamesDamageAndOtherDecisions) {
  Bytes damaged = file_;
  damaged[damaged.size() - 1] ^= 1;
  CliResult result = replay({"--quiet"}, damaged);
  EXPECT_EQ(result.code, 123);
  EXPECT_THAT(result.err, HasSubstr("entry 4 at byte "));
  EXPECT_THAT(result.out, testing::StartsWith("2 events replayed"));

  Bytes content;
  encode_event_entry(content, WakeUp{}, at(6), 4711);
  append_entry_frame(file_, content);
  result = replay({"--quiet"});
  EXPECT_EQ(result.code, 123);
  EXPECT_THAT(result.err, HasSubstr("the core that replays differs from the one that recorded: version 1.2.3 against "
                                    "0.9, first at entry 5, at 08:00:06.000000"));
  EXPECT_THAT(result.out, Not(HasSubstr("equal")));
  EXPECT_THAT(replay({}, Bytes{1, 2, 3}).err, HasSubstr("not a recording"));
  EXPECT_THAT(cli({"replay", home_ + "/absent"}).err, HasSubstr("absent"));
}

TEST_F(ReplayTest, OneLineIsOneLine) {
  EXPECT_EQ(brief::one_line("a\nb\x1b[2J ", 20), "a?b?[2J");
  EXPECT_EQ(brief::one_line("gr\xc3\xbcn gr\xc3\xbcn", 6), "gr...");
  EXPECT_EQ(brief::clock_text(WallTime{-1}), "23:59:59.999999");
}

TEST_F(ReplayTest, MentionsAreFoundWhereverTheyAre) {
  AttemptId attempt{{JobId::parse("0123456789ab").value(), 3}, 1};
  LeaseId lease;
  lease.bytes[0] = 7;
  Award award;
  award.lease = lease;
  award.attempts = {attempt};
  Mentions mentions = mentions_of(Event{MessageReceived{{}, {}, {}, award}});
  EXPECT_TRUE(mentions.jobs.contains(attempt.task.job));
  EXPECT_TRUE(mentions.tasks.contains(attempt.task));
  EXPECT_TRUE(mentions.leases.contains(lease));
  EXPECT_TRUE(mentions.traces.empty());
  EXPECT_TRUE(mentions_of(erase_change<RunRecord>(attempt)).tasks.contains(attempt.task));
  TaskRecord record;
  record.task = attempt.task;
  EXPECT_TRUE(mentions_of(put_change(record)).tasks.contains(attempt.task));
}

}  // namespace
}  // namespace abacus
