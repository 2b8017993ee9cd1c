// Draws nodes, jobs and faults; everybody is back up when it is calm.
#include "sim/workloads/random_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/prng.h"
#include "sim/processes.h"

namespace abacus::sim {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;
constexpr Duration kFaultLongest = seconds(30);
constexpr Duration kClockOff =
    seconds(1);  ///< At most, either way, and by a step: well within the bound between clocks.

class PlanMaker {
 public:
  PlanMaker(std::uint64_t seed, const RandomPlanOptions& options) : options_(options), prng_(seed ^ 0x6d61726b6574) {
    plan_.seed = seed;
    plan_.calm_at = options_.working_time + kFaultLongest;
    plan_.settle_within = options_.settle_within;
  }

  Plan make() {
    for (std::uint32_t i = 0; i < options_.nodes; ++i) plan_.nodes.push_back(make_node());
    for (std::uint32_t i = 0; i < options_.jobs; ++i) plan_.jobs.push_back(make_job());
    if (options_.faults) {
      make_network();
      make_chances();
      make_crashes();
      make_other_faults();
    }
    return std::move(plan_);
  }

 private:
  Duration between(Duration low, Duration high) { return {prng_.between(low.ns, high.ns)}; }
  Duration some_time() { return between(kWorkingTimeMin, options_.working_time); }
  NodeIndex some_node() { return static_cast<NodeIndex>(prng_.below(options_.nodes)); }

  std::vector<NodeIndex> some_nodes(std::uint64_t most) {
    std::set<NodeIndex> chosen;
    for (std::uint64_t i = prng_.below(std::max<std::uint64_t>(most, 1)) + 1; i > 0; --i) chosen.insert(some_node());
    return {chosen.begin(), chosen.end()};
  }

  NodeSetup make_node() {
    NodeSetup setup;
    setup.region = fmt::format("region-{}", prng_.below(options_.regions));
    setup.capacity.cpu_milli = static_cast<std::uint32_t>(1'000u << prng_.below(5));
    setup.capacity.memory_bytes = setup.capacity.cpu_milli / 1'000 * 4 * kGiB;
    setup.capacity.disk_bytes = 100 * kGiB;
    if (prng_.chance(1, 8)) {
      setup.capacity.devices.push_back({"gpu", prng_.chance(1, 2) ? "a" : "b", 2, 16 * kGiB, true});
    }
    if (options_.faults) setup.clock_offset = between(Duration{} - kClockOff, kClockOff);
    setup.starts_at = between(Duration{}, seconds(1));
    return setup;
  }

  PlannedJob make_job() {
    PlannedJob job;
    job.at = some_time();
    job.node = some_node();
    JobSpec& spec = job.spec;
    Duration run_time = milliseconds(prng_.between(5, 4'000));
    spec.work.command = sim_command(run_time, prng_.chance(1, 10) ? 3 : 0);
    spec.work.grace = seconds(1);
    if (prng_.chance(1, 3)) spec.work.outputs = {"result"};
    if (prng_.chance(1, 3)) spec.work.time_limit = run_time + between(Duration{}, seconds(5));
    if (prng_.chance(1, 4)) spec.work.input.bytes[0] = 1;  // Something to stage.
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
    if (prng_.chance(1, 10)) job.cancel_after = between(milliseconds(1), seconds(20));
    return job;
  }

  void make_network() {
    plan_.network.loss_permille = static_cast<std::uint32_t>(prng_.below(30));
    plan_.network.duplicate_permille = static_cast<std::uint32_t>(prng_.below(20));
    plan_.network.jitter = microseconds(prng_.between(0, 3'000));
    plan_.network.tail_permille = static_cast<std::uint32_t>(prng_.below(20));
    plan_.network.tail_times = static_cast<std::uint32_t>(prng_.between(2, 50));
  }

  /// Each run has some of the rare paths: runs with all of them at once would all look alike.
  void make_chances() {
    constexpr std::uint32_t kMost[] = {5, 500, 20, 20, 100, 10, 30, 30, 300, 30};
    for (std::size_t i = 0; i < std::size(kMost); ++i) {
      if (!prng_.chance(1, 3)) continue;
      plan_.chances.push_back({static_cast<FaultPoint>(i), static_cast<std::uint32_t>(prng_.below(kMost[i]) + 1)});
    }
  }

  void add(FaultKind kind, std::vector<NodeIndex> nodes, Duration longest) {
    Fault fault;
    fault.kind = kind;
    fault.at = some_time();
    fault.lasts = between(milliseconds(1), longest);
    fault.nodes = std::move(nodes);
    plan_.faults.push_back(std::move(fault));
  }

  void make_crashes() {
    for (std::uint64_t i = prng_.below(options_.nodes / 2 + 1); i > 0; --i) {
      add(prng_.chance(1, 3) ? FaultKind::power_loss : FaultKind::crash, {some_node()}, kFaultLongest);
    }
    if (!prng_.chance(1, 4)) return;
    NodeIndex victim = some_node();  // A storm: it does not stay up for long.
    for (std::uint64_t i = prng_.below(20); i > 0; --i) add(FaultKind::crash, {victim}, milliseconds(500));
  }

  void make_other_faults() {
    for (std::uint64_t i = prng_.below(6); i > 0; --i) {
      auto kind = static_cast<FaultKind>(
          prng_.between(static_cast<std::int64_t>(FaultKind::pause), static_cast<std::int64_t>(FaultKind::disk_slow)));
      if (kind == FaultKind::clock_step && std::exchange(clock_stepped_, true)) kind = FaultKind::pause;
      add(kind, some_nodes(options_.nodes / 3), kFaultLongest);
      Fault& fault = plan_.faults.back();
      if (is_of_links(kind) && prng_.chance(1, 2)) fault.others = some_nodes(options_.nodes / 2);
      fault.permille = static_cast<std::uint32_t>(prng_.below(800));
      fault.by = by_of(kind);
    }
  }

  Duration by_of(FaultKind kind) {
    if (kind == FaultKind::clock_step) return between(Duration{} - kClockOff, kClockOff);
    if (kind == FaultKind::slow) return between(microseconds(100), milliseconds(300));
    if (kind == FaultKind::disk_slow) return between(milliseconds(1), seconds(2));
    if (kind == FaultKind::flap) return between(milliseconds(50), seconds(5));
    return {};
  }

  RandomPlanOptions options_;
  Prng prng_;
  Plan plan_;
  bool clock_stepped_ = false;  ///< Once only: clocks that step twice could be too far apart.
};

}  // namespace

Plan random_plan(std::uint64_t seed, const RandomPlanOptions& options) { return PlanMaker(seed, options).make(); }

}  // namespace abacus::sim
