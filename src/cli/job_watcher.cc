// The window of tasks that may have something to say.
#include "cli/job_watcher.h"

#include <boost/json.hpp>

#include "api/from_json.h"
#include "cli/exit_codes.h"
#include "cli/render.h"

namespace abacus {
namespace {

constexpr std::uint32_t kPage = 200;
constexpr int kMaxStalls = 40;  // then an ended task's output is given up: it went with its seller

Result<std::vector<TaskView>> tasks_from(const ApiClient& agent, const JobId& job, std::uint32_t offset) {
  TRY(boost::json::value json,
      agent.get(fmt::format("/v1/jobs/{}/tasks?offset={}&limit={}", job.to_string(), offset, kPage)));
  const boost::json::value* tasks = json.is_object() ? json.get_object().if_contains("tasks") : nullptr;
  if (!tasks) return fail(ErrorCode::corrupt, "the agent's answer lacks 'tasks'");
  return from_json<std::vector<TaskView>>(*tasks);
}

bool may_have_output(const TaskView& task) {
  if (task.end) return task.end->kind != EndKind::unplaceable && task.attempt > 0;
  return task.phase == TaskPhase::running || task.phase == TaskPhase::fetching;
}

}  // namespace

Status for_each_task(const ApiClient& agent, const JobId& job, const std::function<bool(const TaskView&)>& visit) {
  for (std::uint32_t offset = 0;; offset += kPage) {
    TRY(std::vector<TaskView> tasks, tasks_from(agent, job, offset));
    for (const TaskView& task : tasks) {
      if (!visit(task)) return {};
    }
    if (tasks.size() < kPage) return {};
  }
}

Result<std::vector<TaskView>> JobWatcher::page(std::uint32_t position) const {
  return tasks_from(agent_, job_, position);
}

/// True if it printed something.
bool JobWatcher::pump(const TaskView& task, std::uint32_t position) {
  std::string prefix = is_array_ && !only_ ? fmt::format("{}: ", task.task.index) : "";
  TaskOutput& output = outputs_.try_emplace(position, task.task, prefix).first->second;
  std::uint32_t& attempt = attempts_[position];
  if (attempt != 0 && attempt != task.attempt) {
    output.start_over();
    if (notes_)
      *notes_ << fmt::format("abacus: task {}: try {} begins on node {}\n", task.task.to_string(), task.attempt,
                             node_text(task.seller));
  }
  attempt = task.attempt;
  auto printed = output.pump(agent_, sinks_);  // an error here heals or ends as a stall
  bool stalled = task.end && !output.at_end() && (!printed || !*printed);
  bool given_up = stalled && ++stalls_[position] >= kMaxStalls;
  if (given_up && notes_) {
    *notes_ << fmt::format("abacus: the rest of the output of task {} cannot be had{}\n", task.task.to_string(),
                           printed ? "" : ": " + printed.error().message);
  }
  if (task.end && (output.at_end() || given_up)) {
    output.finish(sinks_);
    finished_.insert(position);
    outputs_.erase(position);
    attempts_.erase(position);
    stalls_.erase(position);
  }
  return printed && *printed;
}

Result<JobWatcher::Poll> JobWatcher::poll() {
  TRY(boost::json::value json, agent_.get("/v1/jobs/" + job_.to_string()));
  TRY(JobView view, from_json<JobView>(json));
  is_array_ = view.is_array;
  Poll result;
  result.waiting_for = view.waiting_for;
  for (std::uint32_t position = first_open_; position < view.tasks; position += kPage) {
    TRY(std::vector<TaskView> tasks, page(position));
    bool all_wait = true;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      const TaskView& task = tasks[i];
      all_wait = all_wait && task.phase == TaskPhase::waiting;
      bool wanted = !only_ || *only_ == task.task.index;
      if (finished_.count(position + i) > 0) continue;
      if (wanted && may_have_output(task))
        result.printed = pump(task, position + i) || result.printed;
      else if (task.end || !wanted)
        finished_.insert(position + i);
    }
    if (tasks.empty() || (all_wait && !view.ended)) break;
  }
  while (finished_.erase(first_open_) > 0) ++first_open_;
  result.done = first_open_ >= view.tasks && (only_ || view.ended);
  return result;
}

Result<int> JobWatcher::exit_code() const {
  TRY(boost::json::value json, agent_.get("/v1/jobs/" + job_.to_string()));
  TRY(JobView view, from_json<JobView>(json));
  int highest = 0;
  TRY_STATUS(for_each_task(agent_, job_, [&](const TaskView& task) {
    if ((!only_ || *only_ == task.task.index) && task.end) {
      highest = std::max(highest, exit_code_of(*task.end, view.deadline));
    }
    return true;
  }));
  return highest;
}

}  // namespace abacus
