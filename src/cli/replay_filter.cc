// The job's leases and traces are those that are ever mentioned together with it.
#include "cli/replay_filter.h"

#include <algorithm>

namespace abacus {
namespace {

template <class T>
bool meet(const std::set<T>& some, const std::set<T>& others) {
  return std::any_of(some.begin(), some.end(), [&](const T& item) { return others.contains(item); });
}

}  // namespace

bool ReplayFilter::names(const Mentions& mentions) const {
  return task_ && !mentions.tasks.empty() ? mentions.tasks.contains(*task_) : mentions.jobs.contains(job_);
}

bool ReplayFilter::concerns(const Mentions& mentions) const {
  if (names(mentions)) return true;
  bool others = !mentions.jobs.empty();  // Another job, or another task of this one.
  return !others && (meet(mentions.leases, leases_) || meet(mentions.traces, traces_));
}

void ReplayFilter::learn(const Mentions& mentions) {
  bool known = mentions.jobs.contains(job_) || meet(mentions.leases, leases_) || meet(mentions.traces, traces_);
  if (!known || mentions.jobs.size() > 1) return;
  leases_.insert(mentions.leases.begin(), mentions.leases.end());
  traces_.insert(mentions.traces.begin(), mentions.traces.end());
}

void ReplayFilter::learn(const ReplayStep& step) {
  if (step.event) learn(mentions_of(*step.event));
  for (const JournalChange& change : step.effects.changes) learn(mentions_of(change));
  for (const Effect& effect : step.effects.now) learn(mentions_of(effect));
  for (const Effect& effect : step.effects.held) learn(mentions_of(effect));
}

bool ReplayFilter::narrow(ReplayStep& step) const {
  auto foreign = [&](const auto& effect) { return !concerns(mentions_of(effect)); };
  std::erase_if(step.effects.changes, foreign);
  std::erase_if(step.effects.now, foreign);
  std::erase_if(step.effects.held, foreign);
  bool effects = !step.effects.changes.empty() || !step.effects.now.empty() || !step.effects.held.empty();
  return effects || (step.event && concerns(mentions_of(*step.event)));
}

}  // namespace abacus
