// How many processes a second does a seller start and bring to a durable end, against bare posix_spawn?
//
// The ceiling, in the same run: posix_spawn of the same program with as many at once, no isolation, no records. Then
// the executor (shim, exit records synced to disk) without and with cgroup limits, and last the whole market on one
// machine.
#include <spawn.h>
#include <sys/wait.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "market.h"
#include "runtime/agent/loop_pump.h"
#include "runtime/exec/process_executor.h"

extern char** environ;

namespace {

using namespace abacus;
using namespace abacus::bench;

constexpr int kTasks = 2'000;
constexpr std::uint32_t kAtOnce = 8;
constexpr const char* kProgram = "/bin/true";

double bare_rate() {
  double begin = seconds_now();
  int running = 0;
  for (int started = 0, ended = 0; ended < kTasks;) {
    while (running < static_cast<int>(kAtOnce) && started < kTasks) {
      char* argv[] = {const_cast<char*>(kProgram), nullptr};
      pid_t pid = 0;
      CHECK(posix_spawn(&pid, kProgram, nullptr, nullptr, argv, environ) == 0);
      ++started, ++running;
    }
    CHECK(waitpid(-1, nullptr, 0) > 0);
    ++ended, --running;
  }
  return kTasks / (seconds_now() - begin);
}

/// Keeps kAtOnce attempts going in one lease.
class ExecutorRun {
 public:
  explicit ExecutorRun(Limits limits) : limits_(limits) {
    char name[] = "/tmp/abacus-bench-XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    root_ = name;
    ProcessExecutorOptions options;
    options.root = root_;
    options.shim_program = default_shim_program();
    options.isolation = probe_isolation();
    executor_ = std::make_unique<ProcessExecutor>(io_.get_executor(), std::move(options),
                                                  [this](const ExecEvent& event) { on(event); });
    lease_.bytes[0] = 1;
  }

  double rate() {
    WallTime deadline = read_clocks().wall + hours(1);
    CHECK(executor_->open_lease({lease_, deadline, kAtOnce}).has_value());
    double begin = seconds_now();
    for (std::uint32_t i = 0; i < kAtOnce; ++i) launch();
    while (ended_ < kTasks) io_.run_one();
    double rate = kTasks / (seconds_now() - begin);
    CHECK(executor_->end_lease(lease_).has_value());
    while (!closed_) io_.run_one();
    std::filesystem::remove_all(root_);
    return rate;
  }

 private:
  void launch() {
    if (launched_ == kTasks) return;
    LaunchSpec spec;
    spec.lease = lease_;
    spec.attempt = {{{}, static_cast<std::uint32_t>(launched_++)}, 1};
    spec.argv = {kProgram};
    spec.limits = limits_;
    spec.cpu_milli = 1'000;
    spec.memory_bytes = 64 << 20;
    spec.pids_max = 64;
    CHECK(executor_->launch(spec).has_value());
  }

  void on(const ExecEvent& event) {
    if (std::holds_alternative<LeaseRemoved>(event)) closed_ = true;
    const auto* ended = std::get_if<AttemptEnded>(&event);
    if (ended == nullptr) return;
    CHECK_MSG(ended->record.launch_error.empty(), ended->record.launch_error);
    CHECK(executor_->forget(ended->attempt).has_value());
    ++ended_;
    launch();
  }

  Limits limits_;
  std::string root_;
  boost::asio::io_context io_;
  std::unique_ptr<ProcessExecutor> executor_;
  LeaseId lease_;
  int launched_ = 0, ended_ = 0;
  bool closed_ = false;
};

double market_rate() {
  MarketOptions options;
  options.agents = 2;
  options.cpus_each = 8;
  options.noop_executor = false;
  options.sellers_only_first = true;
  Market market(options);
  double begin = seconds_now();
  bool submitted = false;
  JobSpec spec = noop_job(kTasks);
  spec.work.command = {kProgram};
  market.submit(0, spec, [&] { submitted = true; });
  CHECK_MSG(market.run_until([&] { return submitted && market.all_ended(0); }, 120), "the tasks did not end");
  return kTasks / (seconds_now() - begin);
}

void report(const char* what, double rate, double ceiling) {
  std::printf("  %-52s %7.0f /s  %5.2f of the ceiling\n", what, rate, rate / ceiling);
}

}  // namespace

int main() {
  double ceiling = bare_rate();
  std::printf("%d runs of %s, %u at once:\n", kTasks, kProgram, kAtOnce);
  report("bare posix_spawn (the ceiling)", ceiling, ceiling);
  report("executor, no limits, durable exit records", ExecutorRun(Limits::none).rate(), ceiling);
  report("executor, cgroup limits, durable exit records", ExecutorRun(Limits::cgroup).rate(), ceiling);
  report("market of two agents, cgroup limits, end to end", market_rate(), ceiling);
}
