// ps, show, logs, wait, cancel, explain, nodes: commands that look at jobs and at the market.
#include <boost/json.hpp>
#include <chrono>

#include "api/from_json.h"
#include "base/time_text.h"
#include "cli/command_set.h"
#include "cli/exit_codes.h"
#include "cli/interrupts.h"
#include "cli/job_watcher.h"
#include "cli/render.h"

namespace abacus {
namespace {

namespace json = boost::json;
using Talks = CommandSet::Talks;

constexpr std::uint32_t kShownTasks = 100;
constexpr Duration kAgentAwayMax = seconds(20);

WallTime wall_now() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

/// The member of an answer that holds its list. Errors: `corrupt`.
template <class T>
Result<std::vector<T>> list_in(const json::value& answer, const char* name) {
  const json::value* list = answer.is_object() ? answer.get_object().if_contains(name) : nullptr;
  if (!list) return fail(ErrorCode::corrupt, "the agent's answer lacks '{}'", name);
  return from_json<std::vector<T>>(*list);
}

/// Ids go into a path: nothing else than an id or "last" may.
Status check_id(const std::string& id) {
  std::string job = id.substr(0, id.find('.'));
  std::string task = job == "last" ? std::string(12, '0') + id.substr(4) : id;
  if (TaskId::parse(task)) return {};
  return fail(ErrorCode::invalid,
              "'{}' is no job or task: want a job's 12 digits as in `abacus ps`, JOB.INDEX, or last", id);
}

/// Asks for `path` and prints with `render`, unless --json.
template <class T>
int show_answer(Context& context, const std::string& path, const std::function<std::string(const T&)>& render,
                const std::function<Result<T>(const json::value&)>& read = from_json<T>) {
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  auto answer = agent->get(path);
  if (!answer) return context.report(answer.error());
  if (context.print_json(*answer)) return 0;
  auto value = read(*answer);
  if (!value) return context.report(value.error());
  context.out << render(*value);
  return 0;
}

int ps(Context& context, std::uint32_t limit) {
  return show_answer<std::vector<JobView>>(
      context, fmt::format("/v1/jobs?limit={}", limit),
      [&](const std::vector<JobView>& jobs) {
        if (!context.flags.quiet) return render_jobs(jobs, wall_now());
        std::string ids;
        for (const JobView& job : jobs) ids += job.job.to_string() + "\n";
        return ids;
      },
      [](const json::value& answer) { return list_in<JobView>(answer, "jobs"); });
}

int nodes(Context& context) {
  return show_answer<std::vector<PeerView>>(
      context, "/v1/nodes",
      [&](const std::vector<PeerView>& list) {
        if (!context.flags.quiet) return render_nodes(list);
        std::string ids;
        for (const PeerView& node : list) ids += node.node.to_string() + "\n";
        return ids;
      },
      [](const json::value& answer) { return list_in<PeerView>(answer, "nodes"); });
}

int explain(Context& context, const std::string& task) {
  if (Status good = check_id(task); !good) return context.report(good.error());
  return show_answer<ExplainView>(context, "/v1/tasks/" + task + "/explain", render_explain);
}

int show(Context& context, const std::string& id, bool all) {
  if (Status good = check_id(id); !good) return context.report(good.error());
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  std::size_t dot = id.find('.');
  auto answer = agent->get("/v1/jobs/" + id.substr(0, dot));
  if (!answer) return context.report(answer.error());
  auto job = from_json<JobView>(*answer);
  if (!job) return context.report(job.error());
  std::uint32_t hidden = 0;
  std::vector<TaskView> tasks;
  Status read = for_each_task(*agent, job->job, [&](const TaskView& task) {
    bool wanted = dot == std::string::npos || id.substr(dot + 1) == std::to_string(task.task.index);
    if (wanted && (all || context.flags.json || tasks.size() < kShownTasks))
      tasks.push_back(task);
    else if (wanted)
      ++hidden;
    return all || context.flags.json || hidden == 0;
  });
  if (!read) return context.report(read.error());
  if (hidden > 0) hidden = job->tasks - static_cast<std::uint32_t>(tasks.size());
  if (context.flags.json && answer->is_object()) answer->get_object()["task_list"] = to_json(tasks);
  if (context.print_json(*answer)) return 0;
  if (context.flags.quiet)
    context.out << job->job.to_string() << "\n";
  else
    context.out << render_job(*job, tasks, hidden);
  return 0;
}

struct LogFlags {
  std::string task;
  bool follow = false, only_out = false, only_err = false;
};

/// Prints what a job or task has printed so far; with `follow`, goes on to its end.
int logs(Context& context, const LogFlags& flags) {
  if (Status good = check_id(flags.task); !good) return context.report(good.error());
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  std::size_t dot = flags.task.find('.');
  auto answer = agent->get("/v1/jobs/" + flags.task.substr(0, dot));
  if (!answer) return context.report(answer.error());
  auto job = from_json<JobView>(*answer);
  if (!job) return context.report(job.error());
  std::optional<std::uint32_t> only;
  if (dot != std::string::npos) {
    auto task = agent->get("/v1/tasks/" + flags.task);
    if (!task) return context.report(task.error());
    only = TaskId::parse(job->job.to_string() + flags.task.substr(dot)).value().index;
  }
  OutputSinks sinks{flags.only_err ? nullptr : &context.out, flags.only_out ? nullptr : &context.err};
  JobWatcher watcher(*agent, job->job, sinks, flags.follow ? &context.err : nullptr, only);
  Interrupts interrupts;
  while (true) {
    auto poll = watcher.poll();
    if (!poll) return context.report(poll.error());
    if (poll->done || !flags.follow) return 0;
    if (interrupts.sleep(milliseconds(poll->printed ? 20 : 200)) > 0) return kExitInterrupted;
  }
}

struct WaitFlags {
  std::string job, timeout;
};

/// The job's state once it has ended, or after `timeout`.
Result<JobView> wait_for_end(const ApiClient& agent, const std::string& job, std::optional<Duration> timeout) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now(), heard = start;
  while (true) {
    auto now = Clock::now();
    Duration waited{std::chrono::duration_cast<std::chrono::nanoseconds>(now - start).count()};
    Duration left = timeout ? *timeout - waited : seconds(10);
    auto answer = agent.get(fmt::format("/v1/jobs/{}?wait_ms={}", job, std::clamp<std::int64_t>(left.ms(), 0, 10'000)));
    if (!answer) {
      bool may_return = answer.error().code == ErrorCode::unavailable &&
                        Clock::now() - heard < std::chrono::nanoseconds(kAgentAwayMax.ns);
      if (!may_return) return fail(answer.error());
      Interrupts().sleep(milliseconds(200));
      continue;
    }
    heard = Clock::now();
    TRY(JobView view, from_json<JobView>(*answer));
    if (view.ended) return view;
    if (timeout && left.ns <= 0)
      return fail(ErrorCode::timed_out, "job {} has not ended within {}", job, to_string(*timeout));
  }
}

int wait(Context& context, const WaitFlags& flags) {
  if (Status good = check_id(flags.job); !good) return context.report(good.error());
  std::optional<Duration> timeout;
  if (!flags.timeout.empty()) {
    auto parsed = parse_duration(flags.timeout);
    if (!parsed) return context.report(parsed.error().in("--timeout"));
    timeout = *parsed;
  }
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  // "last" is settled now: jobs that are submitted meanwhile do not change what is waited for.
  auto known = agent->get("/v1/jobs/" + flags.job);
  if (!known) return context.report(known.error());
  auto job = from_json<JobView>(*known);
  if (!job) return context.report(job.error());
  auto view = wait_for_end(*agent, job->job.to_string(), timeout);
  if (!view) {
    context.report(view.error());
    return view.error().code == ErrorCode::timed_out ? kExitTime : exit_code_of(view.error());
  }
  auto code = JobWatcher(*agent, view->job, {}, nullptr).exit_code();
  if (!code) return context.report(code.error());
  if (!context.print_json(to_json(*view)) && !context.flags.quiet) {
    context.out << fmt::format("job {}: {} done, {} failed, {} spent\n", view->job.to_string(), view->succeeded,
                               view->failed, to_string(view->spent));
  }
  return *code;
}

int cancel(Context& context, const std::string& id) {
  if (Status good = check_id(id); !good) return context.report(good.error());
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  std::size_t dot = id.find('.');
  json::object body;
  if (dot != std::string::npos) body["index"] = TaskId::parse(std::string(12, '0') + id.substr(dot)).value().index;
  auto answer = agent->post("/v1/jobs/" + id.substr(0, dot) + "/cancel", body);
  if (!answer) return context.report(answer.error());
  if (context.print_json(*answer) || context.flags.quiet) return 0;
  auto cancelled = from_json<JobCancelled>(*answer);
  if (!cancelled) return context.report(cancelled.error());
  context.out << fmt::format("job {}: {} task{} cancelled\n", cancelled->job.to_string(), cancelled->tasks,
                             cancelled->tasks == 1 ? "" : "s");
  return 0;
}

/// A command with one required word.
template <class Action>
void add_with_id(CommandSet& commands, const char* name, const char* help, const char* word, Action action) {
  auto id = std::make_shared<std::string>();
  commands.add(name, help, Talks::to_agent, [id, action](Context& context) { return action(context, *id); })
      ->add_option(word, *id, "JOB, JOB.INDEX, last or last.INDEX")
      ->required();
}

}  // namespace

void add_job_commands(CommandSet& commands) {
  auto limit = std::make_shared<std::uint32_t>(20);
  commands
      .add("ps", "List jobs, the latest first", Talks::to_agent,
           [limit](Context& context) { return ps(context, *limit); })
      ->add_option("-n,--limit", *limit, "How many")
      ->check(CLI::Range(1u, 10'000u));

  auto shown = std::make_shared<std::pair<std::string, bool>>();
  CLI::App* show_command =
      commands.add("show", "Show a job and its tasks: where, at what price, how long", Talks::to_agent,
                   [shown](Context& context) { return show(context, shown->first, shown->second); });
  show_command->add_option("job", shown->first, "JOB, JOB.INDEX, last or last.INDEX")->required();
  show_command->add_flag("--all", shown->second, "All tasks, however many");

  auto log = std::make_shared<LogFlags>();
  CLI::App* logs_command = commands.add("logs", "Print what a job or task printed, to stdout and stderr",
                                        Talks::to_agent, [log](Context& context) { return logs(context, *log); });
  logs_command->add_option("task", log->task, "JOB, JOB.INDEX, last or last.INDEX")->required();
  logs_command->add_flag("-f,--follow", log->follow, "Go on until it ends");
  logs_command->add_flag("--stdout", log->only_out, "Its stdout only");
  logs_command->add_flag("--stderr", log->only_err, "Its stderr only")->excludes("--stdout");

  auto waited = std::make_shared<WaitFlags>();
  CLI::App* wait_command = commands.add("wait", "Wait for a job's end and exit with its code", Talks::to_agent,
                                        [waited](Context& context) { return wait(context, *waited); });
  wait_command->add_option("job", waited->job, "JOB or last")->required();
  wait_command->add_option("--timeout", waited->timeout, "Give up waiting (not the job) after this long: code 121");

  add_with_id(commands, "cancel", "Cancel a job, or one task of it", "job", cancel);
  add_with_id(commands, "explain", "Say why a task is where it is, or why it still waits", "task", explain);
  commands.add("nodes", "List the nodes that the agent knows", Talks::to_agent, nodes);
}

}  // namespace abacus
