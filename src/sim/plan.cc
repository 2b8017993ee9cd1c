// Checks a plan, entry by entry.
#include "sim/plan.h"

#include <set>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "core/buying/validate_job.h"
#include "protocol/limits.h"

namespace abacus::sim {
namespace {

Status check_node(const Plan& plan, NodeIndex node) {
  if (node < plan.nodes.size()) return {};
  return fail(ErrorCode::invalid, "there is no node {}; the {} nodes are numbered from 0", node, plan.nodes.size());
}

Status check_time(const char* what, Duration time, Duration least = {}, Duration most = kTimeMax) {
  if (least <= time && time <= most) return {};
  return fail(ErrorCode::invalid, "{} is {} ns: want {} to {}", what, time.ns, to_string(least), to_string(most));
}

Status check_permille(const char* what, std::uint32_t permille) {
  if (permille <= 1000) return {};
  return fail(ErrorCode::invalid, "{}: {} permille are more than all", what, permille);
}

Status check_setup(const NodeSetup& node) {
  if (node.region.size() > limits::kNameBytes) {
    return fail(ErrorCode::invalid, "the name of its region has {} bytes: want at most {}", node.region.size(),
                limits::kNameBytes);
  }
  TRY_STATUS(check_time("its clock's offset", node.clock_offset, Duration{} - kTimeMax));
  TRY_STATUS(check_time("its start", node.starts_at));
  for (const DeviceStock& stock : node.capacity.devices) TRY_STATUS(validate(stock));
  TRY_STATUS(validate(node.capacity));
  return validate(node.pricing);
}

Status check_regions(const std::vector<NodeSetup>& nodes) {
  std::set<std::string_view> regions;
  for (const NodeSetup& node : nodes) regions.insert(node.region);
  if (regions.size() <= kRegionsMax) return {};
  return fail(ErrorCode::invalid, "there are {} regions: want at most {}", regions.size(), kRegionsMax);
}

Status check_job(const Plan& plan, const PlannedJob& job) {
  TRY_STATUS(check_node(plan, job.node));
  TRY_STATUS(check_time("the moment of handing in", job.at));
  if (job.cancel_after) TRY_STATUS(check_time("the time until it is cancelled", *job.cancel_after));
  for (const DeviceNeed& need : job.spec.bundle.devices) TRY_STATUS(validate(need));
  return validate_for_custody(job.spec);
}

Status check_fault(const Plan& plan, const Fault& fault) {
  for (NodeIndex node : fault.nodes) TRY_STATUS(check_node(plan, node));
  for (NodeIndex node : fault.others) TRY_STATUS(check_node(plan, node));
  if (fault.nodes.empty()) return fail(ErrorCode::invalid, "it names no nodes");
  TRY_STATUS(check_time("its beginning", fault.at));
  TRY_STATUS(check_time("its duration", fault.lasts));
  if (fault.at + fault.lasts > plan.calm_at) {
    return fail(ErrorCode::invalid, "it ends {} after the start, when it should be calm (calm_at is {})",
                to_string(fault.at + fault.lasts), to_string(plan.calm_at));
  }
  const bool back = fault.kind == FaultKind::clock_step;
  TRY_STATUS(check_time("'by'", fault.by, back ? Duration{} - kTimeMax : Duration{}));
  if (fault.kind == FaultKind::flap && fault.by <= Duration{}) {
    return fail(ErrorCode::invalid, "it flaps every {}; want a time above zero", to_string(fault.by));
  }
  return check_permille("its loss", fault.permille);
}

Status check_network(const NetworkConfig& network) {
  TRY_STATUS(check_time("the latency in a region", network.latency_in_region, {}, kLatencyMax));
  TRY_STATUS(check_time("the latency between regions", network.latency_between_regions, {}, kLatencyMax));
  TRY_STATUS(check_time("the jitter", network.jitter, {}, kLatencyMax));
  for (const RegionLatency& link : network.latencies) {
    TRY_STATUS(check_time("the latency of a pair of regions", link.latency, {}, kLatencyMax));
  }
  if (network.tail_times > kTailTimesMax) {
    return fail(ErrorCode::invalid, "tails take {} times as long: want at most {}", network.tail_times, kTailTimesMax);
  }
  TRY_STATUS(check_permille("messages of the tail", network.tail_permille));
  TRY_STATUS(check_permille("lost messages", network.loss_permille));
  return check_permille("repeated messages", network.duplicate_permille);
}

/// How nodes behave: a time that is not zero by default (a period, a patience) must not be zero, and none may be
/// negative or beyond all measure.
template <class Config>
Status check_times_of(const Config& config) {
  Status status;
  boost::mp11::mp_for_each<boost::describe::describe_members<Config, boost::describe::mod_any_access>>(
      [&](auto member) {
        const auto& value = config.*member.pointer;
        using Field = std::remove_cvref_t<decltype(value)>;
        if (!status) return;
        if constexpr (std::is_same_v<Field, Duration>) {
          const Duration least = Config{}.*member.pointer == Duration{} ? Duration{} : microseconds(1);
          status = check_time(member.name, value, least);
        } else if constexpr (std::is_class_v<Field>) {
          status = check_times_of(value);
          if (!status) status = fail(status.error().in(member.name));
        }
      });
  return status;
}

Status check_times(const Plan& plan) {
  TRY_STATUS(check_time("calm_at", plan.calm_at));
  TRY_STATUS(check_time("settle_within", plan.settle_within));
  TRY_STATUS(check_time("rest", plan.rest));
  TRY_STATUS(check_time("commit_latency", plan.commit_latency, {}, kLatencyMax));
  auto of = [](const char* what, const Status& status) { return status ? status : fail(status.error().in(what)); };
  TRY_STATUS(of("overlay", check_times_of(plan.overlay)));
  TRY_STATUS(of("selling", check_times_of(plan.selling)));
  return of("buying", check_times_of(plan.buying));
}

template <class List, class Check>
Status check_each(std::string_view what, const List& list, Check check) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (Status fine = check(list[i]); !fine) return fail(fine.error().in(fmt::format("{} {}", what, i)));
  }
  return {};
}

}  // namespace

Status validate(const Plan& plan) {
  if (plan.nodes.empty()) return fail(ErrorCode::invalid, "no nodes; want one at least");
  TRY_STATUS(check_times(plan));
  if (Status fine = check_network(plan.network); !fine) return fail(fine.error().in("network"));
  TRY_STATUS(check_regions(plan.nodes));
  TRY_STATUS(check_each("node", plan.nodes, [](const NodeSetup& node) { return check_setup(node); }));
  TRY_STATUS(check_each("job", plan.jobs, [&](const PlannedJob& job) { return check_job(plan, job); }));
  TRY_STATUS(check_each("fault", plan.faults, [&](const Fault& fault) { return check_fault(plan, fault); }));
  return check_each("chance", plan.chances,
                    [](const FaultChance& chance) { return check_permille("it", chance.permille); });
}

}  // namespace abacus::sim
