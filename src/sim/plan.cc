// Checks a plan, entry by entry.
#include "sim/plan.h"

#include <algorithm>
#include <string_view>

#include "base/result.h"

namespace abacus::sim {
namespace {

Status check_node(const Plan& plan, NodeIndex node) {
  if (node < plan.nodes.size()) return {};
  return fail(ErrorCode::invalid, "there is no node {}; the {} nodes are numbered from 0", node, plan.nodes.size());
}

Status check_setup(const NodeSetup& node) {
  TRY_STATUS(validate(node.capacity));
  return validate(node.pricing);
}

Status check_job(const Plan& plan, const PlannedJob& job) {
  TRY_STATUS(check_node(plan, job.node));
  if (job.at < Duration{}) return fail(ErrorCode::invalid, "it is handed in before the start");
  return validate(job.spec);
}

Status check_fault(const Plan& plan, const Fault& fault) {
  for (NodeIndex node : fault.nodes) TRY_STATUS(check_node(plan, node));
  for (NodeIndex node : fault.others) TRY_STATUS(check_node(plan, node));
  if (fault.nodes.empty()) return fail(ErrorCode::invalid, "it names no nodes");
  if (fault.at < Duration{} || fault.lasts < Duration{}) return fail(ErrorCode::invalid, "its time is negative");
  if (fault.at + fault.lasts > plan.calm_at) {
    return fail(ErrorCode::invalid, "it ends {} after the start, when it should be calm (calm_at is {})",
                to_string(fault.at + fault.lasts), to_string(plan.calm_at));
  }
  if (fault.kind == FaultKind::flap && fault.by <= Duration{}) {
    return fail(ErrorCode::invalid, "it flaps every {}; want a time above zero", to_string(fault.by));
  }
  if (fault.permille > 1000) return fail(ErrorCode::invalid, "{} permille are more than all", fault.permille);
  return {};
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
  TRY_STATUS(check_each("node", plan.nodes, [](const NodeSetup& node) { return check_setup(node); }));
  TRY_STATUS(check_each("job", plan.jobs, [&](const PlannedJob& job) { return check_job(plan, job); }));
  TRY_STATUS(check_each("fault", plan.faults, [&](const Fault& fault) { return check_fault(plan, fault); }));
  return check_each("chance", plan.chances, [](const FaultChance& chance) -> Status {
    if (chance.permille <= 1000) return {};
    return fail(ErrorCode::invalid, "{} permille are more than always", chance.permille);
  });
}

}  // namespace abacus::sim
