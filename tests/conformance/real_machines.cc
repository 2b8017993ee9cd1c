// Machines that are real: each a whole agent with a folder, a loop and a port of its own, in this process.
#include <signal.h>
#include <spdlog/sinks/null_sink.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "machines.h"
#include "runtime/agent/agent.h"
#include "runtime/exec/shim_process.h"
#include "runtime/net/testing.h"
#include "runtime/posix/temporary_directory.h"
#include "stepped_clock.h"

namespace abacus::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLimit = std::chrono::seconds(60);
constexpr auto kAWhile = std::chrono::milliseconds(150);
constexpr auto kIdle = std::chrono::microseconds(200);

struct Machine {
  std::filesystem::path folder;
  Endpoint at = testing::loopback();
  NodeId node;
  std::unique_ptr<boost::asio::io_context> io;
  std::unique_ptr<Agent> agent;
  Notebook* notebook = nullptr;  ///< The agent owns it.
};

class RealMachines final : public Machines {
 public:
  explicit RealMachines(std::size_t count) : machines_(count) {
    for (std::size_t i = 0; i < count; ++i) enrol(machines_[i], i);
    for (std::size_t i = 0; i < count; ++i) start(i);
  }
  ~RealMachines() override {
    for (std::size_t i = 0; i < machines_.size(); ++i) clear(i);
    for (std::size_t i = 0; i < machines_.size(); ++i) stop(i);
    step_wall_clock(Duration{} - stepped_);
  }

  Notebook& at(std::size_t machine) override {
    CHECK(machines_.at(machine).agent != nullptr);
    return *machines_[machine].notebook;
  }
  Contact contact(std::size_t machine) const override { return {machines_.at(machine).node, machines_[machine].at}; }
  OrgId organisation() const override { return organisation_.key.org_id(); }

  void stop(std::size_t machine) override {
    machines_[machine].agent.reset();
    machines_[machine].io.reset();
  }
  void start(std::size_t machine) override;

  void fill_disks() override;
  void empty_disks() override;
  void kill_shim(std::size_t machine, const LeaseId& lease) override {
    pid_t shim = read_shim_note(leases_of(machine) / lease.to_string()).pid;
    CHECK(shim > 1);
    ::kill(shim, SIGKILL);
  }
  void step_wall(Duration by) override {
    stepped_ += by;
    step_wall_clock(by);
  }

  std::vector<std::string> command(const Deed& deed) override;
  bool is_deaf() override { return std::filesystem::exists(deaf_mark_); }

  bool until(const std::function<bool()>& done) override { return run_until(done, kLimit); }
  void a_while() override {
    run_until([] { return false; }, kAWhile);
  }

 private:
  void enrol(Machine& machine, std::size_t number);
  bool run_until(const std::function<bool()>& done, Clock::duration limit);
  std::filesystem::path leases_of(std::size_t machine) const { return machines_[machine].folder / "leases"; }
  void clear(std::size_t machine);

  TemporaryDirectory directory_;
  testing::Org organisation_{"conformance"};
  std::filesystem::path deaf_mark_ = directory_ / "deaf";
  rlimit file_size_{};
  Duration stepped_;
  std::vector<Machine> machines_;
};

void RealMachines::enrol(Machine& machine, std::size_t number) {
  machine.folder = directory_ / std::to_string(number);
  KeyPair key = load_or_make_node_key(machine.folder).value();
  machine.node = key.node_id();
  CHECK(save_certificates(machine.folder, organisation_.sign(key.public_key()), organisation_.certificate).has_value());
}

void RealMachines::start(std::size_t number) {
  Machine& machine = machines_[number];
  AgentOptions options;
  options.data_dir = machine.folder;
  options.listen = machine.at;
  options.capacity = {4'000, 1 << 30, 1 << 30, {}};
  options.limits = false;
  options.log = std::make_shared<spdlog::logger>("conformance", std::make_shared<spdlog::sinks::null_sink_mt>());
  options.make_inhabitant = [&machine](const NodeConfig&, World& world, Recorder*) {
    auto notebook = std::make_unique<Notebook>(world);
    machine.notebook = notebook.get();
    return notebook;
  };
  machine.io = std::make_unique<boost::asio::io_context>(1);
  auto agent = Agent::start(*machine.io, std::move(options));
  CHECK_MSG(agent.has_value(), agent ? "" : agent.error().message);
  machine.agent = std::move(*agent);
  machine.at = machine.agent->endpoint();
}

/// No file can grow or be written any more, in this process and in what it starts.
void RealMachines::fill_disks() {
  ::signal(SIGXFSZ, SIG_IGN);
  CHECK(::getrlimit(RLIMIT_FSIZE, &file_size_) == 0);
  rlimit nothing{0, file_size_.rlim_max};
  CHECK(::setrlimit(RLIMIT_FSIZE, &nothing) == 0);
}

void RealMachines::empty_disks() {
  CHECK(::setrlimit(RLIMIT_FSIZE, &file_size_) == 0);
  ::signal(SIGXFSZ, SIG_DFL);
}

std::vector<std::string> RealMachines::command(const Deed& deed) {
  if (!deed.can_start) return {"no-such-program"};
  std::string script;
  if (deed.deaf) {
    std::filesystem::remove(deaf_mark_);
    script = fmt::format("trap '' TERM; : > '{}'; ", deaf_mark_.string());
  }
  if (deed.run_time < Duration{}) return {"sh", "-c", script + "exec sleep 600"};
  if (deed.run_time > Duration{})
    script += fmt::format("sleep {}.{:03}; ", deed.run_time.s(), deed.run_time.ms() % 1'000);
  script += deed.signal != 0 ? fmt::format("kill -{} $$", deed.signal) : fmt::format("exit {}", deed.exit_code);
  return {"sh", "-c", script};
}

bool RealMachines::run_until(const std::function<bool()>& done, Clock::duration limit) {
  for (auto end = Clock::now() + limit; !done();) {
    if (Clock::now() > end) return false;
    std::size_t handled = 0;
    for (const Machine& machine : machines_) {
      if (!machine.io) continue;
      machine.io->restart();
      handled += machine.io->poll();
    }
    if (handled == 0) std::this_thread::sleep_for(kIdle);
  }
  return true;
}

/// Ends what a test left running.
void RealMachines::clear(std::size_t machine) {
  std::error_code none;
  auto nothing_left = [&] {
    return std::filesystem::directory_iterator(leases_of(machine), none) == end(std::filesystem::directory_iterator{});
  };
  if (nothing_left()) return;
  if (!machines_[machine].agent) start(machine);
  std::size_t before = at(machine).heard<RunsAdopted>().size();
  at(machine).ask(AdoptRuns{});
  CHECK(until([&] { return at(machine).heard<RunsAdopted>().size() > before; }));
  RunsAdopted adopted = at(machine).heard<RunsAdopted>().back();
  for (const AdoptedLease& lease : adopted.leases) at(machine).ask(CloseLease{lease.lease});
  EXPECT_TRUE(until(nothing_left)) << "leases are left in " << leases_of(machine);
}

}  // namespace

std::unique_ptr<Machines> real_machines(std::size_t count) { return std::make_unique<RealMachines>(count); }

}  // namespace abacus::conformance
