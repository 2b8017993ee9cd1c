// One list after the other, again until nothing more can go.
#include "sim/trial/shrink.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace abacus::sim {
namespace {

class Shrinker {
 public:
  Shrinker(Plan plan, const Fails& fails, std::uint32_t tries_max)
      : result_{std::move(plan), 0}, fails_(fails), tries_max_(tries_max) {}

  Shrunk shrink() {
    bool smaller = true;
    while (smaller && result_.tries < tries_max_) {
      smaller = thin<&Plan::faults>();
      smaller |= thin<&Plan::chances>();
      smaller |= thin<&Plan::jobs>();
      smaller |= shorten_arrays();
      smaller |= drop_nodes();
      smaller |= calm_network();
    }
    return std::move(result_);
  }

 private:
  bool accept(Plan candidate) {
    if (result_.tries >= tries_max_) return false;
    ++result_.tries;
    if (!validate(candidate) || !fails_(candidate)) return false;
    result_.plan = std::move(candidate);
    return true;
  }

  /// Leaves out stretches of a list, long ones first.
  template <auto list>
  bool thin() {
    bool smaller = false;
    for (std::size_t length = std::max<std::size_t>((result_.plan.*list).size(), 1); length > 0; length /= 2) {
      for (std::size_t at = 0; at < (result_.plan.*list).size();) {
        Plan candidate = result_.plan;
        auto& items = candidate.*list;
        auto begin = items.begin() + static_cast<std::ptrdiff_t>(at);
        items.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(length, items.size() - at)));
        bool gone = accept(std::move(candidate));
        smaller |= gone;
        if (!gone) at += length;
      }
    }
    return smaller;
  }

  bool shorten_arrays() {
    bool smaller = false;
    for (std::size_t i = 0; i < result_.plan.jobs.size(); ++i) {
      while (result_.plan.jobs[i].spec.is_array && result_.plan.jobs[i].spec.array.size() > 1) {
        Plan candidate = result_.plan;
        ArraySpec& array = candidate.jobs[i].spec.array;
        array.last = array.first + (array.size() / 2 - 1) * array.step;
        if (!accept(std::move(candidate))) break;
        smaller = true;
      }
    }
    return smaller;
  }

  /// Only the last node can go without another name for the others.
  static Plan without_nodes(const Plan& plan, std::size_t keep) {
    Plan candidate = plan;
    candidate.nodes.resize(keep);
    auto is_gone = [keep](NodeIndex node) { return node >= keep; };
    std::erase_if(candidate.jobs, [&](const PlannedJob& job) { return is_gone(job.node); });
    for (Fault& fault : candidate.faults) {
      std::erase_if(fault.nodes, is_gone);
      std::erase_if(fault.others, is_gone);
    }
    std::erase_if(candidate.faults, [](const Fault& fault) { return fault.nodes.empty(); });
    return candidate;
  }

  bool drop_nodes() {
    bool smaller = false;
    for (std::size_t fewer = result_.plan.nodes.size() / 2; fewer > 0; fewer /= 2) {
      while (result_.plan.nodes.size() > fewer &&
             accept(without_nodes(result_.plan, result_.plan.nodes.size() - fewer)))
        smaller = true;
    }
    return smaller;
  }

  bool calm_network() {
    NetworkConfig calm = result_.plan.network;
    calm.loss_permille = calm.duplicate_permille = calm.tail_permille = 0;
    const NetworkConfig& now = result_.plan.network;
    if (now.loss_permille + now.duplicate_permille + now.tail_permille == 0) return false;
    Plan candidate = result_.plan;
    candidate.network = calm;
    return accept(std::move(candidate));
  }

  Shrunk result_;
  const Fails& fails_;
  std::uint32_t tries_max_;
};

}  // namespace

Shrunk shrink(Plan plan, const Fails& fails, std::uint32_t tries_max) {
  return Shrinker(std::move(plan), fails, tries_max).shrink();
}

}  // namespace abacus::sim
