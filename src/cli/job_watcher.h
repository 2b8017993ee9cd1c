// A job on its way to its end, with the output of its tasks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/task_output.h"

namespace abacus {

/// Follows a job by asking again and again; each poll() costs a call for the job, one for a page of its tasks, and one
/// or two for each task that may have printed something. Tasks run roughly in order of index, so only the pages between
/// the first task that is not finished and the first page that wholly waits are looked at.
class JobWatcher {
 public:
  /// `notes`: where to say that a task starts again; null for nowhere. `only`: this index alone is printed.
  JobWatcher(const ApiClient& agent, JobId job, OutputSinks sinks, std::ostream* notes,
             std::optional<std::uint32_t> only = std::nullopt)
      : agent_(agent), job_(job), sinks_(sinks), notes_(notes), only_(only) {}

  struct Poll {
    bool done = false;        ///< The job (or the only task) has ended and everything it printed was passed on.
    bool printed = false;     ///< Something happened: poll again soon.
    std::string waiting_for;  ///< As in JobView.
  };
  Result<Poll> poll();

  /// The job's exit code: the highest of its tasks' (for `only`, that task's). Call after done.
  Result<int> exit_code() const;

 private:
  Result<std::vector<TaskView>> page(std::uint32_t position) const;
  bool pump(const TaskView& task, std::uint32_t position);

  const ApiClient& agent_;
  JobId job_;
  OutputSinks sinks_;
  std::ostream* notes_;
  std::optional<std::uint32_t> only_;

  bool is_array_ = false;
  std::uint32_t first_open_ = 0;                 ///< All positions before it are finished.
  std::set<std::uint32_t> finished_;             ///< Positions from first_open_ on.
  std::map<std::uint32_t, TaskOutput> outputs_;  ///< By position.
  std::map<std::uint32_t, std::uint32_t> attempts_;
  std::map<std::uint32_t, int> stalls_;  ///< Polls of an ended task that gave neither bytes nor the end.
};

/// Asks for pages of a job's tasks until `visit` returns false or there are no more.
Status for_each_task(const ApiClient& agent, const JobId& job, const std::function<bool(const TaskView&)>& visit);

}  // namespace abacus
