// Commands from words to exit code, against an agent of tables over a real socket.
#include "cli/cli.h"

#include <pthread.h>
#include <signal.h>

#include <boost/json.hpp>

#include "api/job_document.h"
#include "cli/agent_config.h"
#include "cli/cli_fixture.h"
#include "cli/exit_codes.h"
#include "cli/job_flags.h"

namespace abacus {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(CliTest, RunPassesOutputAndExitCodeOn) {
  fake_.service.life = [](FakeJob& job, int looks) {
    if (looks >= 1) job.tasks[0].phase = TaskPhase::running;
    auto& out = job.logs[{0, LogStream::standard_output}];
    auto& err = job.logs[{0, LogStream::standard_error}];
    if (looks == 1) out = "one\n";
    if (looks == 2) err = "warning\n";
    if (looks == 3) out += "two";
    if (looks == 4) job.end_all(ended_with(EndKind::exited, 3));
  };
  serve();
  CliResult result = cli({"run", "--name", "x", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "one\ntwo");
  EXPECT_EQ(result.err, "warning\n");
  EXPECT_EQ(fake_.service.only_job().request.spec.work.command, (std::vector<std::string>{"sh", "-c", "exit 3"}));
}

TEST_F(CliTest, RunMarksTheLinesOfAnArrayAndExitsWithTheHighestCode) {
  fake_.service.life = [](FakeJob& job, int looks) {
    for (std::uint32_t i = 0; i < 3 && looks >= 1; ++i) {
      job.tasks[i].phase = TaskPhase::running;
      job.logs[{i * 10, LogStream::standard_output}] = fmt::format("a{}\nb{}", i, i);
      if (looks > 2) job.end_task(i, ended_with(EndKind::exited, static_cast<int>(i)));
    }
    job.view.ended = looks > 2;
  };
  serve();
  CliResult result = cli({"run", "--array", "0-20:10", "--", "x"});
  EXPECT_EQ(result.code, 2);
  for (const char* line : {"0: a0\n", "0: b0\n", "10: a1\n", "20: b2\n"}) EXPECT_THAT(result.out, HasSubstr(line));
}

TEST_F(CliTest, RunSurvivesAPagedArray) {
  fake_.service.life = [](FakeJob& job, int looks) {
    if (looks == 2) job.end_all(ended_with(EndKind::exited));
  };
  serve();
  EXPECT_EQ(cli({"run", "--array", "1-1000", "--", "x"}).code, 0);
}

TEST_F(CliTest, RunTellsThatATaskBeganAgain) {
  fake_.service.life = [](FakeJob& job, int looks) {
    job.tasks[0].phase = TaskPhase::running;
    job.tasks[0].attempt = looks <= 1 ? 1 : 2;
    job.logs[{0, LogStream::standard_output}] = looks <= 1 ? "first try is long\n" : "second\n";
    if (looks == 3) job.end_all(ended_with(EndKind::exited));
  };
  serve();
  CliResult result = cli({"run", "--", "x"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "first try is long\nsecond\n");
  EXPECT_THAT(result.err, HasSubstr("try 2 begins"));
}

struct EndCase {
  TaskEnd end;
  int code;
};

TEST_F(CliTest, ExitCodesSayWhy) {
  TaskEnd current;
  fake_.service.life = [&](FakeJob& job, int) { job.end_all(current); };
  serve();
  const EndCase cases[] = {{ended_with(EndKind::exited, 7), 7},         {ended_with(EndKind::signalled, 0, 15), 143},
                           {ended_with(EndKind::out_of_memory), 137},   {ended_with(EndKind::timed_out), 121},
                           {ended_with(EndKind::unplaceable), 120},     {ended_with(EndKind::lost), 123},
                           {ended_with(EndKind::failed_to_start), 123}, {ended_with(EndKind::cancelled), 123}};
  for (const EndCase& one : cases) {
    current = one.end;
    EXPECT_EQ(cli({"run", "--", "x"}).code, one.code)
        << to_string(ErrorCode::internal) << static_cast<int>(one.end.kind);
    EXPECT_EQ(cli({"wait", "last", "-q"}).code, one.code);
  }
  current = ended_with(EndKind::unplaceable);
  current.message = "needs 64 GiB, the largest node has 8 GiB";
  CliResult told = cli({"run", "--", "x"});
  EXPECT_THAT(told.err, HasSubstr("unplaceable: needs 64 GiB, the largest node has 8 GiB"));
  current.ended_at = WallTime{4'000'000'000LL * 1'000'000'000};
  EXPECT_EQ(cli({"run", "--deadline", "2090-01-01T00:00:00Z", "--", "x"}).code, 121);
}

TEST_F(CliTest, CtrlCCancels) {
  pthread_t runner = pthread_self();
  fake_.service.life = [runner](FakeJob& job, int looks) {
    job.tasks[0].phase = TaskPhase::running;
    if (looks == 2) pthread_kill(runner, SIGINT);
  };
  serve();
  CliResult result = cli({"run", "--", "sleep", "100"});
  EXPECT_EQ(result.code, kExitInterrupted);
  EXPECT_EQ(fake_.service.calls, (std::vector<std::string>{"submit", "cancel"}));
  EXPECT_THAT(result.err, HasSubstr("cancelling job"));
}

TEST_F(CliTest, AnEchoOfCtrlCIsNotASecondOne) {
  pthread_t runner = pthread_self();
  fake_.service.life = [runner](FakeJob& job, int looks) {
    job.tasks[0].phase = TaskPhase::running;
    if (looks != 2) return;
    pthread_kill(runner, SIGINT);
    pthread_kill(runner, SIGTERM);
  };
  serve();
  CliResult result = cli({"run", "--", "sleep", "100"});
  EXPECT_EQ(result.code, kExitInterrupted);
  EXPECT_EQ(fake_.service.calls, (std::vector<std::string>{"submit", "cancel"}));
}

TEST_F(CliTest, SubmitPrintsTheIdAlone) {
  serve();
  EXPECT_EQ(cli({"submit", "--quiet", "--", "x"}).out, "000000000001\n");
  EXPECT_THAT(cli({"submit", "--", "x"}).out, HasSubstr("job 000000000002 with 1 task submitted"));
  EXPECT_EQ(cli({"ps", "-q"}).out, "000000000002\n000000000001\n");
}

TEST_F(CliTest, JsonIsTheAgentsOwn) {
  serve();
  EXPECT_EQ(cli({"submit", "--json", "--", "x"}).out, R"({"schema":1,"job":"000000000001","tasks":1})"
                                                      "\n");
  for (std::vector<std::string> words : {std::vector<std::string>{"ps"},
                                         {"show", "last"},
                                         {"nodes"},
                                         {"explain", "last"},
                                         {"plan", "x"},
                                         {"cancel", "last"},
                                         {"drain"},
                                         {"org", "token"}}) {
    words.push_back("--json");
    boost::json::value json = boost::json::parse(cli(words).out);
    EXPECT_EQ(json.at("schema"), 1) << words[0];
  }
}

TEST_F(CliTest, AJobFileIsOverriddenByFlags) {
  serve();
  std::string input = write_file("data.txt", "x");
  std::string file = write_file("job.yaml",
                                "command: [wc, data.txt]\nname: counts\ncpu: 0.5\nmemory: 1GiB\narray: 0-9%2\n"
                                "inputs: [data.txt]\noutputs: ['*.out']\noutput_dir: results\nenvironment: {N: '7'}\n");
  CliResult result = cli({"submit", "--file", file, "--memory", "2GiB", "--env", "M=8", "-q"});
  ASSERT_EQ(result.code, 0) << result.err;
  const SubmitRequest& job = fake_.service.only_job().request;
  EXPECT_EQ(job.spec.name, "counts");
  EXPECT_EQ(job.spec.bundle.cpu_milli, 500u);
  EXPECT_EQ(job.spec.bundle.memory_bytes, 2ull << 30);
  EXPECT_EQ(job.spec.array, (ArraySpec{0, 9, 1, 2}));
  EXPECT_EQ(job.inputs, (std::vector<InputPath>{{input, "data.txt"}}));
  EXPECT_EQ(job.spec.output_dir, home_ + "/results");
  EXPECT_EQ(job.spec.work.environment, (std::vector<EnvironmentVariable>{{"N", "7"}, {"M", "8"}}));
}

TEST_F(CliTest, OutputsGoToAFolderNamedByTheJob) {
  serve();
  ASSERT_EQ(cli({"submit", "--output", "a.txt", "--", "x"}).code, 0);
  EXPECT_EQ(fake_.service.only_job().request.spec.output_dir, std::filesystem::current_path().string() + "/{job}");
  ASSERT_EQ(cli({"submit", "--", "x"}).code, 0);
  EXPECT_EQ(fake_.service.only_job().request.spec.output_dir, "");
}

TEST_F(CliTest, LogsEndWithTheTask) {
  fake_.service.life = [](FakeJob& job, int looks) {
    job.tasks[0].phase = TaskPhase::running;
    job.logs[{0, LogStream::standard_output}] = "out\n";
    job.logs[{0, LogStream::standard_error}] = "err\n";
    if (looks == 4) job.end_all(ended_with(EndKind::exited, 5));
  };
  serve();
  cli({"submit", "--", "x"});
  CliResult once = cli({"logs", "last"});
  EXPECT_EQ(once.code, 0);
  EXPECT_EQ(once.out, "out\n");
  EXPECT_EQ(once.err, "err\n");
  CliResult only = cli({"logs", "last.0", "--stdout", "-f"});
  EXPECT_EQ(only.code, 0);
  EXPECT_EQ(only.out, "out\n");
  EXPECT_EQ(only.err, "");
}

TEST_F(CliTest, CancelsOneTaskOrAll) {
  serve();
  cli({"submit", "--array", "0-3", "--", "x"});
  EXPECT_THAT(cli({"cancel", "last.2"}).out, HasSubstr("4 tasks cancelled"));
  EXPECT_EQ(cli({"cancel", "last", "-q"}).out, "");
  EXPECT_EQ(fake_.service.calls, (std::vector<std::string>{"submit", "cancel 2", "cancel"}));
}

TEST_F(CliTest, WaitGivesUpWhenToldTo) {
  serve();
  cli({"submit", "--", "x"});
  CliResult result = cli({"wait", "last", "--timeout", "300ms"});
  EXPECT_EQ(result.code, kExitTime);
  EXPECT_THAT(result.err, HasSubstr("has not ended within 300 ms"));
}

TEST_F(CliTest, PlanExitsWithWhetherThereIsAnOffer) {
  serve();
  EXPECT_EQ(cli({"plan", "--gpu", "1", "--", "x"}).code, kExitUnplaceable);
  fake_.service.plan_answer = [] {
    PlanResult plan;
    plan.lines.emplace_back().quote.emplace().lots.push_back({});
    return plan;
  };
  CliResult offered = cli({"plan", "--", "x"});
  EXPECT_EQ(offered.code, 0);
  EXPECT_THAT(offered.out, HasSubstr("nothing was bought"));
}

TEST_F(CliTest, SaysThatNoAgentIsThere) {
  CliResult result = cli({"ps"});
  EXPECT_EQ(result.code, kExitUnreachable);
  EXPECT_THAT(result.err, AllOf(HasSubstr(home_ + "/agent.sock"), HasSubstr("`abacus dev up`")));
  CliResult named = cli({"ps", "--agent", "/nowhere/agent.sock"});
  EXPECT_EQ(named.code, kExitUnreachable);
  EXPECT_THAT(named.err, HasSubstr("no agent at /nowhere/agent.sock"));
  EXPECT_EQ(cli({"ps", "--agent", "http://127.0.0.1:1", "--agent-token", "t"}).code, kExitUnreachable);
  EXPECT_THAT(cli({"ps", "--agent", "http://127.0.0.1:1"}).err, HasSubstr("wants its token"));
  EXPECT_EQ(cli({"ps", "--agent", "https://x"}).code, kExitUsage);
}

TEST_F(CliTest, FindsTheAgentOfItsDataDirectory) {
  fake_.start();
  EXPECT_EQ(cli({"ps", "--agent", fake_.server.folder()}).code, 0);
  setenv("ABACUS_HOME", fake_.server.folder().c_str(), 1);
  EXPECT_EQ(cli({"ps"}).code, 0);
}

TEST_F(CliTest, ExplainsMistakes) {
  serve();
  auto error = [&](std::vector<std::string> words) {
    CliResult result = cli(words);
    EXPECT_EQ(result.code, kExitUsage) << words.back() << result.out;
    EXPECT_THAT(result.err, StartsWith("abacus: "));
    return result.err;
  };
  EXPECT_THAT(error({"rnu"}), HasSubstr("unknown command rnu; did you mean run?"));
  EXPECT_THAT(error({"dev", "upp"}), HasSubstr("unknown command upp; did you mean up?"));
  EXPECT_THAT(error({"dev"}), HasSubstr("which command?"));
  EXPECT_THAT(error({"run", "--memry", "4GiB", "--", "x"}),
              HasSubstr("unknown option --memry; did you mean --memory?"));
  EXPECT_THAT(error({"run", "ls", "-la"}), HasSubstr("go after --"));
  EXPECT_THAT(error({"run"}), HasSubstr("Give a command after --"));
  EXPECT_THAT(error({"run", "--memory", "lots", "--", "x"}), HasSubstr("memory: 'lots' is not a size"));
  EXPECT_THAT(error({"run", "--array", "9-1", "--", "x"}), HasSubstr("runs backwards"));
  EXPECT_THAT(error({"run", "--budget", "a lot", "--", "x"}), HasSubstr("budget: 'a lot' is not an amount"));
  EXPECT_THAT(error({"run", "--input", "/nowhere/at/all", "--", "x"}),
              HasSubstr("/nowhere/at/all: there is no such file"));
  EXPECT_THAT(error({"run", "--env", "NOT_SET_ANYWHERE", "--", "x"}), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(error({"run", "--memory"}), HasSubstr("--memory"));
  EXPECT_THAT(error({"show"}), HasSubstr("abacus show --help"));
  EXPECT_THAT(error({"show", "../../v1/info"}), HasSubstr("is no job or task"));
  EXPECT_THAT(error({"ps", "--limit", "0"}), HasSubstr("--limit"));
  EXPECT_THAT(error({"ps", "more"}), HasSubstr("one word too many"));
  EXPECT_THAT(error({"join", "nowhere", "--token", "t"}), HasSubstr("want HOST:PORT"));
  EXPECT_TRUE(fake_.service.calls.empty());
  CliResult unknown = cli({"show", "0123456789ab"});
  EXPECT_EQ(unknown.code, kExitOther);
  EXPECT_THAT(unknown.err, HasSubstr("there is no job 0123456789ab"));
}

TEST_F(CliTest, HelpsAndSaysItsVersion) {
  EXPECT_THAT(cli({}).out, HasSubstr("dev"));
  EXPECT_THAT(cli({"run", "--help"}).out, HasSubstr("--at-most-once"));
  EXPECT_EQ(cli({"--version"}).out, "abacus 1.2.3\n");
  EXPECT_EQ(cli({"version"}).out, "abacus 1.2.3\n");
}

TEST_F(CliTest, TheReferenceIsWhatTheCommandsSay) {
  std::ifstream file(ABACUS_SOURCE_DIR "/docs/reference/cli.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == cli_reference()) << "write it again: abacus reference > docs/reference/cli.md";
}

TEST_F(CliTest, TheApiReferenceNamesEveryFieldOfAJob) {
  std::ifstream file(ABACUS_SOURCE_DIR "/docs/reference/api.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string& field : job_document_fields()) EXPECT_THAT(text.str(), HasSubstr("`" + field + "`"));
}

TEST_F(CliTest, AgentSettingsComeFromFlagsThenFile) {
  std::string node(64, 'a');
  std::string file = write_file("agent.yaml",
                                "listen: 0.0.0.0:7000\nregion: north\nenergy_price: -0.05\napi_port: 7412\n"
                                "limits: false\ncontacts: ['" +
                                    node + "@10.0.0.1:7411']\n");
  CliResult result = cli({"agent", "--config", file, "--region", "south", "--data-dir", home_ + "/x/.."});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(agent_settings_.listen.to_string(), "0.0.0.0:7000");
  EXPECT_EQ(agent_settings_.region, "south");
  EXPECT_EQ(agent_settings_.energy_per_kwh, micro_credits(-50'000));
  EXPECT_EQ(agent_settings_.api_port, 7412);
  EXPECT_FALSE(agent_settings_.limits);
  ASSERT_EQ(agent_settings_.contacts.size(), 1u);
  EXPECT_EQ(agent_settings_.contacts[0].node.to_string(), node);
  EXPECT_EQ(agent_settings_.data_dir, home_);
  EXPECT_EQ(cli({"agent"}).code, 0);
  EXPECT_EQ(agent_settings_.listen.to_string(), "127.0.0.1:7411");
  EXPECT_THAT(cli({"agent", "--energy-price=-0.01"}).err, "");
  EXPECT_THAT(cli({"agent", "--listen", "localhost"}).err, HasSubstr("listen: 'localhost' is not an endpoint"));
  EXPECT_THAT(cli({"agent", "--config", write_file("bad.yaml", "regoin: x\n")}).err,
              HasSubstr("did you mean 'region'"));
  EXPECT_THAT(cli({"agent", "--log-level", "loud"}).err, HasSubstr("log_level"));
}

}  // namespace
}  // namespace abacus
