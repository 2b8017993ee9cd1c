// Machines in the simulator: the plan is empty, misfortunes are begun and ended as a test asks.
#include <algorithm>
#include <map>
#include <optional>

#include "base/check.h"
#include "machines.h"
#include "sim/simulation.h"

namespace abacus::conformance {
namespace {

using sim::Fault;
using sim::FaultKind;
using sim::NodeIndex;

constexpr Duration kStep = milliseconds(1);
constexpr Duration kLimit = minutes(10);
constexpr Duration kAWhile = seconds(10);
constexpr Duration kFarAway = hours(24 * 365);

sim::Plan quiet_plan(std::size_t count) {
  sim::Plan plan;
  sim::NodeSetup setup;
  setup.region = "here";
  setup.capacity = {4'000, 1 << 30, 1 << 30, {}};
  plan.nodes.assign(count, setup);
  plan.network.jitter = milliseconds(2);
  plan.network.tail_permille = 50;
  plan.network.duplicate_permille = 200;
  plan.calm_at = kFarAway;
  return plan;
}

class SimulatedMachines final : public Machines {
 public:
  explicit SimulatedMachines(std::size_t count)
      : simulation_(quiet_plan(count), {},
                    [this](const NodeConfig& config, World& world, Recorder*) { return move_in(config, world); }) {
    CHECK(until([&] { return notebooks_.size() == count; }));
  }

  Notebook& at(std::size_t machine) override { return *notebooks_.at(machine); }
  Contact contact(std::size_t machine) const override { return configs_.at(machine).self; }
  OrgId organisation() const override { return configs_.at(0).organisation; }

  void stop(std::size_t machine) override {
    notebooks_.erase(machine);
    crashes_[machine] = simulation_.begin(on(FaultKind::crash, {static_cast<NodeIndex>(machine)}));
  }
  void start(std::size_t machine) override { simulation_.end(crashes_.at(machine)); }

  void fill_disks() override { disk_full_ = simulation_.begin(on(FaultKind::disk_full, everybody())); }
  void empty_disks() override { simulation_.end(disk_full_); }
  void kill_shim(std::size_t machine, const LeaseId& lease) override {
    simulation_.kill_shim(static_cast<NodeIndex>(machine), lease);
  }
  void step_wall(Duration by) override {
    Fault step = on(FaultKind::clock_step, everybody());
    step.by = by;
    simulation_.begin(step);
  }

  std::vector<std::string> command(const Deed& deed) override {
    if (!deed.can_start) return {"no-such-program"};
    Duration run_time = deed.run_time < Duration{} ? kFarAway : deed.run_time;
    return sim::sim_command(run_time, deed.signal != 0 ? -deed.signal : deed.exit_code, deed.deaf);
  }
  bool is_deaf() override { return true; }

  bool until(const std::function<bool()>& done) override {
    MonoTime limit = simulation_.now().mono + kLimit;
    while (!done() && simulation_.now().mono < limit) pass(kStep);
    return done();
  }
  void a_while() override { pass(kAWhile); }

 private:
  static Fault on(FaultKind kind, std::vector<NodeIndex> nodes) { return {kind, {}, {}, std::move(nodes), {}, {}, 0}; }

  std::vector<NodeIndex> everybody() const {
    std::vector<NodeIndex> nodes;
    for (NodeIndex i = 0; i < simulation_.size(); ++i) nodes.push_back(i);
    return nodes;
  }

  std::unique_ptr<Inhabitant> move_in(const NodeConfig& config, World& world) {
    auto notebook = std::make_unique<Notebook>(world);
    NodeIndex machine = simulation_.index_of(config.self.node).value();
    configs_[machine] = config;
    notebooks_[machine] = notebook.get();
    return notebook;
  }

  void pass(Duration time) { simulation_.run_until(simulation_.now().mono + time); }

  std::map<std::size_t, Notebook*> notebooks_;  ///< Of those that are up; the simulation owns them.
  std::map<std::size_t, NodeConfig> configs_;
  std::map<std::size_t, std::size_t> crashes_;
  std::size_t disk_full_ = 0;
  sim::Simulation simulation_;
};

}  // namespace

std::unique_ptr<Machines> simulated_machines(std::size_t count) { return std::make_unique<SimulatedMachines>(count); }

}  // namespace abacus::conformance
