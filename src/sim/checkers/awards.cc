// Follows awards and starts as they are sent, and launches as they happen; a refusal or a crash frees the attempt.
#include "sim/checkers/awards.h"

#include <fmt/format.h>

#include "sim/simulation.h"

namespace abacus::sim {
namespace {

/// True if the buyer would know of it after a crash.
bool remembers(const Disk& disk, const AttemptId& attempt, const LeaseId& lease) {
  std::optional<TaskRecord> task = disk.read<TaskRecord>(attempt.task);
  return task && task->attempt == attempt.number && task->lease == lease;
}

}  // namespace

void AwardsChecker::assign(const Simulation& simulation, Buyer buyer, const LeaseId& lease,
                           const std::vector<AttemptId>& attempts) {
  buyers_[lease] = buyer;
  for (const AttemptId& attempt : attempts) {
    auto [live, fresh] = live_.try_emplace(attempt, lease);
    if (fresh || live->second == lease) continue;
    violated(simulation, fmt::format("attempt {} is awarded to lease {} and to lease {}", attempt.to_string(),
                                     live->second.short_string(), lease.short_string()));
  }
}

void AwardsChecker::launched(const Simulation& simulation, const Launch& launch) {
  if (std::optional<NodeIndex> buyer = simulation.index_of(launch.buyer)) buyers_[launch.lease] = *buyer;
  if (forgotten_.contains({launch.attempt, launch.lease})) return;
  auto [first, fresh] = launched_.try_emplace(launch.attempt, launch.lease);
  if (fresh || first->second == launch.lease) return;
  violated(simulation, fmt::format("attempt {} is started in lease {} and in lease {}", launch.attempt.to_string(),
                                   first->second.short_string(), launch.lease.short_string()));
}

void AwardsChecker::on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) {
  if (const auto* launch = std::get_if<Launch>(&effect)) launched(simulation, *launch);
  if (const auto* send = std::get_if<Send>(&effect)) {
    if (const auto* award = std::get_if<Award>(&send->message)) assign(simulation, node, award->lease, award->attempts);
    if (const auto* start = std::get_if<Start>(&send->message)) assign(simulation, node, start->lease, start->attempts);
  }
}

void AwardsChecker::on_event(const Simulation&, NodeIndex node, const Event& event) {
  const auto* received = std::get_if<MessageReceived>(&event);
  if (received == nullptr) return;
  const auto* refuse = std::get_if<Refuse>(&received->message);
  if (refuse == nullptr) return;
  auto buyer = buyers_.find(refuse->lease);
  if (buyer == buyers_.end() || buyer->second != node) return;
  std::erase_if(live_, [&](const auto& entry) { return entry.second == refuse->lease; });
}

void AwardsChecker::forget_awards_of(const Simulation& simulation, Buyer buyer) {
  forget(simulation, buyer, live_);
  forget(simulation, buyer, launched_);
}

void AwardsChecker::forget(const Simulation& simulation, Buyer buyer, std::map<AttemptId, LeaseId>& among) {
  std::erase_if(among, [&](const auto& entry) {
    const auto& [attempt, lease] = entry;
    if (buyers_[lease] != buyer || remembers(simulation.disk(buyer), attempt, lease)) return false;
    forgotten_.insert(entry);
    return true;
  });
}

}  // namespace abacus::sim
