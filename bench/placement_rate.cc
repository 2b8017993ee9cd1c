// How many tasks a second does the market place and bring to a durable end, and how long does one placement take?
//
// Agents with real TLS and real journals share one thread; an executor that starts nothing leaves the market alone to
// be measured. The ceiling, in the same run: frames that two of these transports exchange, one outstanding, and the
// journal commits a second.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "market.h"
#include "runtime/agent/loop_pump.h"
#include "runtime/store/journal.h"

namespace {

using namespace abacus;
using namespace abacus::bench;

struct Rate {
  double wall_s = 0, cpu_s = 0;
  std::uint64_t messages = 0;
};

std::uint64_t messages_of(Market& market) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < market.size(); ++i) sum += market.agent(i).transport_stats().frames_out;
  return sum;
}

/// Submits a job at an agent and waits for its end; calls `done` with the seconds that took.
boost::asio::awaitable<void> one_job(Agent& agent, JobSpec spec, std::function<void(double)> done) {
  double begin = seconds_now();
  auto submitted = co_await agent.submit(std::move(spec), {});
  if (!submitted) std::fprintf(stderr, "%s\n", submitted.error().message.c_str()), std::exit(1);
  while (true) {
    auto job = agent.node().buying().job(submitted->job, read_clocks());
    if (job && job->ended) break;
    co_await agent.wait_change(submitted->job, seconds(5));
  }
  done(seconds_now() - begin);
}

/// Keeps `at_once` jobs of `tasks` tasks going from agent 0 until `jobs` have ended.
Rate run_jobs(Market& market, std::size_t jobs, std::uint32_t tasks, std::size_t at_once,
              std::vector<double>* latencies) {
  Rate rate;
  std::size_t begun = 0, ended = 0;
  std::function<void()> begin = [&] {
    if (begun == jobs) return;
    ++begun;
    boost::asio::co_spawn(market.io(),
                          one_job(market.agent(0), noop_job(tasks),
                                  [&](double s) {
                                    if (latencies != nullptr) latencies->push_back(s);
                                    ++ended;
                                    begin();
                                  }),
                          boost::asio::detached);
  };
  double wall = seconds_now(), cpu = cpu_seconds_now();
  std::uint64_t messages = messages_of(market);
  for (std::size_t i = 0; i < at_once; ++i) begin();
  if (!market.run_until([&] { return ended == jobs; }, 120)) std::fprintf(stderr, "jobs did not end\n"), std::exit(1);
  rate.wall_s = seconds_now() - wall;
  rate.cpu_s = cpu_seconds_now() - cpu;
  rate.messages = messages_of(market) - messages;
  return rate;
}

/// What the wire alone allows: frames from one agent's transport to another's, one outstanding, all CPU counted.
double frames_per_core_second(Market& market) {
  constexpr std::uint64_t kFrames = 3'000;
  Agent& to = market.agent(1);
  double cpu = cpu_seconds_now();
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    std::uint64_t before = to.transport_stats().frames_in;
    market.agent(0).transport().send(to.identity().node_id(), to.endpoint(), Bytes(200));
    while (to.transport_stats().frames_in == before) market.io().run_one();
  }
  return kFrames / (cpu_seconds_now() - cpu);
}

/// What the disk alone allows: durable transactions of one row, one after the other.
double commits_per_second() {
  constexpr int kCommits = 500;
  char name[] = "/tmp/abacus-bench-XXXXXX";
  CHECK(mkdtemp(name) != nullptr);
  double rate = 0;
  {
    auto journal = Journal::open(name);
    CHECK(journal.has_value());
    double begin = seconds_now();
    for (int i = 0; i < kCommits; ++i) {
      std::vector<Journal::Change> change{{1, Bytes{static_cast<std::uint8_t>(i)}, Bytes(240)}};
      CHECK(journal->commit(change).has_value());
    }
    rate = kCommits / (seconds_now() - begin);
  }
  std::filesystem::remove_all(name);
  return rate;
}

void report(const char* what, const Rate& rate, double tasks) {
  std::printf("  %-34s %9.0f tasks/s  %9.0f tasks/s/core  %6.1f us CPU  %5.2f messages a task\n", what,
              tasks / rate.wall_s, tasks / rate.cpu_s, rate.cpu_s / tasks * 1e6,
              static_cast<double>(rate.messages) / tasks);
}

void report_latency(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  auto at = [&](double q) {
    return seconds[static_cast<std::size_t>(q * static_cast<double>(seconds.size() - 1))] * 1e3;
  };
  std::printf("  %-34s p50 %.2f ms  p99 %.2f ms  (%zu jobs, submission to durable end)\n", "one job at a time", at(0.5),
              at(0.99), seconds.size());
}

/// Against sending the same number of messages one by one and nothing else.
void report_ceiling(Market& market, const Rate& singles, double tasks) {
  double frames = frames_per_core_second(market), messages = static_cast<double>(singles.messages) / tasks;
  double ceiling = frames / messages;
  std::printf("  ceiling: %.0f frames/s/core, hence %.0f single asks/s/core by messages alone; reached %.2f of it\n",
              frames, ceiling, tasks / singles.cpu_s / ceiling);
}

void measure(std::size_t agents, bool record) {
  std::printf("%zu agents, the first buys%s:\n", agents, agents > 1 ? ", the others sell" : "");
  MarketOptions options;
  options.agents = agents;
  options.sellers_only_first = agents > 1;
  options.record = record;
  Market market(options);
  run_jobs(market, 50, 1, 1, nullptr);
  std::vector<double> latencies;
  run_jobs(market, 300, 1, 1, &latencies);
  report_latency(latencies);
  Rate singles = run_jobs(market, 3'000, 1, 32, nullptr);
  report("single asks, 32 at once", singles, 3'000);
  report_ceiling(market, singles, 3'000);
  report("one array of 20,000", run_jobs(market, 1, 20'000, 1, nullptr), 20'000);
  if (record) std::printf("  recorded: %.1f MB\n", static_cast<double>(market.recorded_bytes()) / 1e6);
}

}  // namespace

/// With --record each agent records what goes into its core: what does that cost?
int main(int argc, char** argv) {
  bool record = argc == 2 && std::strcmp(argv[1], "--record") == 0;
  if (argc > 1 && !record) return std::fprintf(stderr, "usage: %s [--record]\n", argv[0]), 2;
  std::printf("ceiling: %.0f durable commits/s, one after the other\n", commits_per_second());
  for (std::size_t agents : {2, 20}) measure(agents, record);
}
