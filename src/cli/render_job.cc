// Jobs and tasks as tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size.h"
#include "base/time_text.h"
#include "cli/render.h"
#include "cli/table.h"

namespace abacus {
namespace {

constexpr std::size_t kCommandWidth = 40;

std::string command_text(const std::vector<std::string>& command) {
  std::string text = fmt::format("{}", fmt::join(command, " "));
  if (text.size() <= kCommandWidth) return text;
  std::size_t end = kCommandWidth - 3;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // not in the middle of a character
  return text.substr(0, end) + "...";
}

std::string state_of(const JobView& job) {
  if (job.cancelled) return job.ended ? "cancelled" : "cancelling";
  if (job.ended) return job.failed > 0 ? "failed" : "done";
  return job.placed > 0 ? "running" : "waiting";
}

std::string span_text(const std::optional<WallTime>& from, const std::optional<WallTime>& to) {
  return from && to ? to_string(*to - *from) : "-";
}

std::string phase_text(const TaskView& task) {
  if (task.end) return end_text(*task.end);
  return boost::describe::enum_to_string(task.phase, "unknown");
}

void add_row(Table& table, const TaskView& task) {
  bool placed = !task.seller.empty();
  std::optional<WallTime> ended;
  if (task.end && task.started_at) ended = task.end->ended_at;
  table.row({std::to_string(task.task.index), phase_text(task), node_text(task.seller),
             task.region.empty() ? "-" : task.region, std::to_string(task.attempt), std::to_string(task.rounds),
             placed ? to_string(task.price) : "-", span_text(task.submitted_at, task.started_at),
             span_text(task.started_at, ended), placed ? to_string(task.cost) : "-"});
}

std::string reasons_of(const std::vector<TaskView>& tasks) {
  constexpr int kShown = 5;
  std::string text;
  int shown = 0;
  for (const TaskView& task : tasks) {
    if (!task.end || task.end->message.empty() || ++shown > kShown) continue;
    text += fmt::format("task {}: {}\n", task.task.index, task.end->message);
  }
  if (shown > kShown)
    text += fmt::format("and {} more with a reason; abacus show --json has them all\n", shown - kShown);
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string end_text(const TaskEnd& end) {
  switch (end.kind) {
    case EndKind::exited: return end.exit_code == 0 ? "done" : fmt::format("exit {}", end.exit_code);
    case EndKind::signalled: return fmt::format("signal {}", end.signal);
    case EndKind::failed_to_start: return "no start";
    case EndKind::out_of_memory: return "out of memory";
    case EndKind::timed_out: return "timed out";
    case EndKind::cancelled: return "cancelled";
    case EndKind::interrupted: return "interrupted";
    case EndKind::lost: return "lost";
    case EndKind::unplaceable: return "unplaceable";
  }
  return "unknown";
}

std::string node_text(const NodeId& node) { return node.empty() ? "-" : node.short_string(); }

std::string render_jobs(const std::vector<JobView>& jobs, WallTime now) {
  if (jobs.empty()) return "no jobs yet; submit one with: abacus run -- echo hello\n";
  Table table({"JOB", "NAME", "STATE", ">TASKS", ">WAIT", ">RUN", ">DONE", ">FAILED", ">SPENT", ">AGE", "COMMAND"});
  for (const JobView& job : jobs) {
    table.row({job.job.to_string(), job.name.empty() ? "-" : job.name, state_of(job), std::to_string(job.tasks),
               std::to_string(job.waiting), std::to_string(job.placed), std::to_string(job.succeeded),
               std::to_string(job.failed), to_string(job.spent), to_string(now - job.submitted_at),
               command_text(job.command)});
  }
  std::string text = table.to_string();
  for (const JobView& job : jobs) {
    if (!job.waiting_for.empty()) text += fmt::format("{} waits: {}\n", job.job.to_string(), job.waiting_for);
  }
  return text;
}

std::string render_job(const JobView& job, const std::vector<TaskView>& tasks, std::uint32_t hidden) {
  std::string text =
      fmt::format("job {}{}{}: {}\n", job.job.to_string(), job.name.empty() ? "" : " ", job.name, state_of(job));
  text += fmt::format("  command    {}\n", command_text(job.command));
  text += fmt::format("  needs      {}\n", to_string(job.bundle));
  text += fmt::format("  tasks      {}: {} waiting, {} placed, {} done, {} failed\n", job.tasks, job.waiting,
                      job.placed, job.succeeded, job.failed);
  text += fmt::format(
      "  spent      {}{}", to_string(job.spent),
      job.committed > Money{} ? fmt::format(", at most {} more for open leases", to_string(job.committed)) : "");
  text += job.budget ? fmt::format(" of {}\n", to_string(*job.budget)) : "\n";
  text += fmt::format("  submitted  {}\n", utc_text(job.submitted_at));
  if (job.deadline) text += fmt::format("  deadline   {}\n", utc_text(*job.deadline));
  if (job.ended_at)
    text += fmt::format("  ended      {}, after {}\n", utc_text(*job.ended_at),
                        to_string(*job.ended_at - job.submitted_at));
  if (!job.waiting_for.empty()) text += fmt::format("  waits      {}\n", job.waiting_for);
  if (tasks.empty()) return text;
  Table table({">TASK", "STATE", "NODE", "REGION", ">TRY", ">ROUNDS", ">PRICE", ">WAIT", ">RUN", ">COST"});
  for (const TaskView& task : tasks) add_row(table, task);
  text += "\n" + table.to_string();
  if (hidden > 0) text += fmt::format("and {} more; --all shows them\n", hidden);
  return text + reasons_of(tasks);
}

}  // namespace abacus
