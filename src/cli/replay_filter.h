// What of a replay concerns one job or one task.
#pragma once

#include <optional>

#include "cli/mentions.h"
#include "core/recording/replayer.h"

namespace abacus {

/// Many messages name only the lease or the trace of a job. So a replay is gone through twice: first every step is
/// given to `learn`, then each step is narrowed.
class ReplayFilter {
 public:
  explicit ReplayFilter(JobId job) : job_(job) {}
  /// Steps of other tasks of the job are left out, those of its negotiation and its leases are not.
  explicit ReplayFilter(TaskId task) : job_(task.job), task_(task) {}

  void learn(const ReplayStep& step);

  /// Takes away the effects that do not concern it. False if neither they nor the event do.
  bool narrow(ReplayStep& step) const;

 private:
  bool names(const Mentions& mentions) const;
  bool concerns(const Mentions& mentions) const;
  void learn(const Mentions& mentions);

  JobId job_;
  std::optional<TaskId> task_;
  std::set<LeaseId> leases_;
  std::set<TraceId> traces_;
};

}  // namespace abacus
