// Draws nodes, jobs, crashes and a partition from the seed; everybody is back up when it is calm.
#include "sim/workloads/random_market.h"

#include <fmt/format.h>

namespace abacus::sim {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

}  // namespace

RandomMarket::RandomMarket(std::uint64_t seed, RandomMarketOptions options)
    : options_(std::move(options)),
      prng_(seed ^ 0x6d61726b6574),
      simulation_(std::make_unique<Simulation>(make_config(seed))) {
  for (NodeIndex i = 0; i < options_.nodes; ++i) simulation_->start_node(MonoTime{prng_.between(0, seconds(1).ns)}, i);
  schedule_work();
  if (options_.faults) schedule_faults();
  simulation_->calm(calm_at());
}

SimulationConfig RandomMarket::make_config(std::uint64_t seed) {
  SimulationConfig config;
  config.seed = seed;
  config.sabotage = options_.sabotage;
  for (std::uint32_t i = 0; i < options_.nodes; ++i) config.nodes.push_back(make_node());
  if (options_.faults) {
    config.network.loss_permille = static_cast<std::uint32_t>(prng_.below(30));
    config.network.duplicate_permille = static_cast<std::uint32_t>(prng_.below(20));
    config.network.jitter = microseconds(prng_.between(0, 3'000));
  }
  return config;
}

NodeSetup RandomMarket::make_node() {
  NodeSetup setup;
  std::uint64_t region = prng_.below(options_.regions);
  setup.region = fmt::format("region-{}", region);
  setup.capacity.cpu_milli = static_cast<std::uint32_t>(1'000u << prng_.below(5));
  setup.capacity.memory_bytes = setup.capacity.cpu_milli / 1'000 * 4 * kGiB;
  setup.capacity.disk_bytes = 100 * kGiB;
  if (prng_.chance(1, 8)) {
    setup.capacity.devices.push_back({"gpu", prng_.chance(1, 2) ? "a" : "b", 2, 16 * kGiB, true});
  }
  return setup;
}

JobSpec RandomMarket::make_job() {
  JobSpec spec;
  Duration run_time = milliseconds(prng_.between(5, 4'000));
  spec.work.command = sim_command(run_time, prng_.chance(1, 10) ? 3 : 0);
  spec.work.grace = seconds(1);
  if (prng_.chance(1, 3)) spec.work.outputs = {"result"};
  spec.bundle.cpu_milli = static_cast<std::uint32_t>(250 * prng_.between(1, 8));
  spec.bundle.memory_bytes = static_cast<std::uint64_t>(prng_.between(1, 4)) * kGiB / 2;
  if (prng_.chance(1, 12)) spec.bundle.devices.push_back({"gpu", "", 1});
  if (prng_.chance(2, 3)) {
    spec.is_array = true;
    spec.array.last = static_cast<std::uint32_t>(prng_.between(1, 59));
    if (prng_.chance(1, 4)) spec.array.running_max = 4;
  }
  if (prng_.chance(1, 2)) spec.expected_run = run_time;
  if (prng_.chance(1, 5)) spec.repeat = Repeat::at_most_once;
  if (prng_.chance(1, 6)) spec.regions = {"region-0"};
  spec.lost_after = seconds(10);
  return spec;
}

void RandomMarket::schedule_work() {
  for (std::uint32_t i = 0; i < options_.jobs; ++i) {
    MonoTime at = some_time();
    simulation_->submit(at, some_node(), make_job());
    if (prng_.chance(1, 10)) simulation_->cancel(some_time(), some_node(), prng_.below(options_.jobs));
  }
}

void RandomMarket::schedule_faults() {
  std::uint64_t crashes = prng_.below(options_.nodes / 2);
  for (std::uint64_t i = 0; i < crashes; ++i) {
    NodeIndex victim = some_node();
    MonoTime at = some_time();
    simulation_->crash(at, victim, prng_.chance(1, 3));
    simulation_->start_node(at + milliseconds(prng_.between(1, 30'000)), victim);
  }
  if (prng_.chance(1, 2)) {
    std::set<NodeIndex> side;
    for (std::uint32_t i = 0; i < options_.nodes / 3; ++i) side.insert(some_node());
    MonoTime at = some_time();
    simulation_->partition(at, std::move(side));
    simulation_->heal(at + milliseconds(prng_.between(500, 25'000)));
  }
  // Whoever was struck last comes back: nobody stays down.
  for (NodeIndex i = 0; i < options_.nodes; ++i) simulation_->start_node(calm_at() + seconds(25), i);
}

bool RandomMarket::run(Duration patience) {
  simulation_->run_until(calm_at() + seconds(30));
  return simulation_->run_until_settled(calm_at() + patience);
}

}  // namespace abacus::sim
