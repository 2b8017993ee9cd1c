// How many tasks a second does the market place and bring to a durable end, and how long does one placement take?
//
// Agents with real TLS and real journals share one thread; an executor that starts nothing leaves the market alone to
// be measured. The ceiling, in the same run: frames that two of these transports exchange, one outstanding, and the
// journal commits a second.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "market.h"
#include "runtime/agent/loop_pump.h"

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
Rate run_jobs(Market& market, std::size_t jobs, std::uint32_t tasks, std::size_t at_once, std::vector<double>* latencies) {
  Rate rate;
  std::size_t begun = 0, ended = 0;
  std::function<void()> begin = [&] {
    if (begun == jobs) return;
    ++begun;
    boost::asio::co_spawn(market.io(), one_job(market.agent(0), noop_job(tasks), [&](double s) {
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

void report(const char* what, const Rate& rate, double tasks) {
  std::printf("  %-34s %9.0f tasks/s  %9.0f tasks/s/core  %6.1f us CPU  %5.2f messages a task\n", what, tasks / rate.wall_s,
              tasks / rate.cpu_s, rate.cpu_s / tasks * 1e6, static_cast<double>(rate.messages) / tasks);
}

void report_latency(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  auto at = [&](double q) { return seconds[static_cast<std::size_t>(q * static_cast<double>(seconds.size() - 1))] * 1e3; };
  std::printf("  %-34s p50 %.2f ms  p99 %.2f ms  (%zu jobs, submission to durable end)\n", "one job at a time", at(0.5), at(0.99),
              seconds.size());
}

void measure(std::size_t agents) {
  std::printf("%zu agents, the first buys%s:\n", agents, agents > 1 ? ", the others sell" : "");
  MarketOptions options;
  options.agents = agents;
  options.sellers_only_first = agents > 1;
  Market market(options);
  run_jobs(market, 50, 1, 1, nullptr);
  std::vector<double> latencies;
  run_jobs(market, 300, 1, 1, &latencies);
  report_latency(latencies);
  report("single asks, 32 at once", run_jobs(market, 3'000, 1, 32, nullptr), 3'000);
  report("one array of 20,000", run_jobs(market, 1, 20'000, 1, nullptr), 20'000);
}

}  // namespace

int main() {
  for (std::size_t agents : {2, 20}) measure(agents);
}
