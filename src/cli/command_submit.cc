// run, submit, plan: commands that take a job.
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <optional>

#include "api/from_json.h"
#include "api/job_document.h"
#include "cli/command_set.h"
#include "cli/exit_codes.h"
#include "cli/interrupts.h"
#include "cli/job_flags.h"
#include "cli/job_watcher.h"
#include "cli/places.h"
#include "cli/render.h"

namespace abacus {
namespace {

namespace json = boost::json;

using Clock = std::chrono::steady_clock;

constexpr auto kEchoTime = std::chrono::milliseconds(500);
constexpr auto kTellFirst = std::chrono::seconds(1);
constexpr auto kTellAgain = std::chrono::seconds(5);
constexpr Duration kPollMin = milliseconds(20);
constexpr Duration kPollMax = milliseconds(250);
constexpr Duration kSubmitTime = minutes(10);    // inputs are packed meanwhile
constexpr Duration kAgentAwayMax = seconds(20);  // an agent that restarts comes back within

WallTime wall_now() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

/// The document, checked here first: a mistake is told even if no agent is there.
Result<json::object> checked_document(const Context& context, const JobFlags& flags) {
  TRY(json::object document, job_document_of(flags, context.after_dashes, current_folder()));
  auto job = parse_job_document(document, wall_now());
  if (!job) return fail(job.error());
  for (const InputPath& input : job->inputs) {
    if (access(input.source.c_str(), R_OK) == 0) continue;
    return fail(ErrorCode::invalid, "--input {}: there is no such file or folder, or it cannot be read", input.source);
  }
  return document;
}

Result<json::value> submit_document(const ApiClient& agent, const json::object& document) {
  return agent.post("/v1/jobs", document, kSubmitTime);
}

int submit(Context& context, const JobFlags& flags) {
  auto document = checked_document(context, flags);
  if (!document) return context.report(document.error());
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  auto answer = submit_document(*agent, *document);
  if (!answer) return context.report(answer.error());
  if (context.print_json(*answer)) return 0;
  auto submitted = from_json<JobSubmitted>(*answer);
  if (!submitted) return context.report(submitted.error());
  std::string id = submitted->job.to_string();
  if (context.flags.quiet)
    context.out << id << "\n";
  else
    context.out << fmt::format("job {} with {} task{} submitted; abacus wait {} waits for its end\n", id,
                               submitted->tasks, submitted->tasks == 1 ? "" : "s", id);
  return 0;
}

/// `abacus run` from submission to exit code.
class AttachedRun {
 public:
  AttachedRun(Context& context, const ApiClient& agent, JobId job)
      : context_(context),
        agent_(agent),
        job_(job),
        watcher_(agent, job, {&context.out, &context.err}, context.flags.quiet ? nullptr : &context.err) {}

  int follow(Interrupts& interrupts) {
    Duration pause = kPollMin;
    while (true) {
      auto poll = watcher_.poll();
      if (!poll && !agent_may_return(poll.error())) return context_.report(poll.error());
      if (poll) away_ = {};
      if (poll && poll->done) break;
      pause = poll && poll->printed ? kPollMin : std::min(pause * 3 / 2, kPollMax);
      if (poll) say_why_it_waits(poll->waiting_for);
      if (interrupts.sleep(pause) > 0 && !interrupted()) return kExitInterrupted;
      if (!poll) away_ += pause;
    }
    auto code = watcher_.exit_code();
    if (!code) return context_.report(code.error());
    if (*code != 0) say_how_it_ended();
    return cancelled_at_ ? kExitInterrupted : *code;
  }

 private:
  bool agent_may_return(const Error& error) const {
    return error.code == ErrorCode::unavailable && away_ < kAgentAwayMax;
  }

  /// The first time cancels; false when the user does not want to wait for that. What comes right after the first is
  /// its echo: a terminal, `timeout` and other wrappers may each pass the same signal on.
  bool interrupted() {
    if (cancelled_at_) {
      if (Clock::now() - *cancelled_at_ < kEchoTime) return true;
      context_.err << fmt::format("abacus: left job {} to end by itself\n", job_.to_string());
      return false;
    }
    cancelled_at_ = Clock::now();
    context_.err << fmt::format("abacus: cancelling job {}; Ctrl-C again leaves at once\n", job_.to_string());
    auto answer = agent_.post("/v1/jobs/" + job_.to_string() + "/cancel", json::object{}, seconds(10));
    if (!answer) context_.report(answer.error());
    return true;
  }

  /// Not what passes within a second, only what is new, and not every change of its numbers.
  void say_why_it_waits(const std::string& reason) {
    if (context_.flags.quiet || reason.empty() || reason == told_ || Clock::now() < tell_after_) return;
    told_ = reason;
    tell_after_ = Clock::now() + kTellAgain;
    context_.err << fmt::format("abacus: waiting: {}\n", told_);
  }

  void say_how_it_ended() {
    if (context_.flags.quiet) return;
    int told = 0;
    auto done = for_each_task(agent_, job_, [&](const TaskView& task) {
      bool own_exit = task.end && task.end->kind == EndKind::exited;
      if (!task.end || (own_exit && task.end->message.empty())) return true;
      context_.err << fmt::format("abacus: task {}: {}{}{}\n", task.task.to_string(), end_text(*task.end),
                                  task.end->message.empty() ? "" : ": ", task.end->message);
      return ++told < 5;
    });
    if (!done) context_.report(done.error());
  }

  Context& context_;
  const ApiClient& agent_;
  JobId job_;
  JobWatcher watcher_;
  std::optional<Clock::time_point> cancelled_at_;
  Duration away_;
  std::string told_;
  Clock::time_point tell_after_ = Clock::now() + kTellFirst;
};

int run(Context& context, const JobFlags& flags) {
  auto document = checked_document(context, flags);
  if (!document) return context.report(document.error());
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  Interrupts interrupts;  // from before the submission on, so that a Ctrl-C never leaves a job behind unknown
  auto answer = submit_document(*agent, *document);
  if (!answer) return context.report(answer.error());
  auto submitted = from_json<JobSubmitted>(*answer);
  if (!submitted) return context.report(submitted.error());
  int code = AttachedRun(context, *agent, submitted->job).follow(interrupts);
  if (context.flags.json) {
    if (auto view = agent->get("/v1/jobs/" + submitted->job.to_string())) context.print_json(*view);
  }
  return code;
}

int plan(Context& context, const JobFlags& flags) {
  auto document = checked_document(context, flags);
  if (!document) return context.report(document.error());
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  auto answer = agent->post("/v1/plan", *document);
  if (!answer) return context.report(answer.error());
  auto result = from_json<PlanResult>(*answer);
  if (!result) return context.report(result.error());
  if (!context.print_json(*answer)) {
    for (const PlanLine& line : result->lines) {
      if (context.flags.quiet && line.quote) context.out << line.seller.to_string() << "\n";
    }
    if (!context.flags.quiet) context.out << render_plan(*result);
  }
  bool offered =
      std::any_of(result->lines.begin(), result->lines.end(), [](const PlanLine& l) { return l.quote.has_value(); });
  return offered ? 0 : kExitUnplaceable;
}

void add(CommandSet& commands, const char* name, const char* help, int (*action)(Context&, const JobFlags&)) {
  auto flags = std::make_shared<JobFlags>();
  CLI::App* command = commands.add(name, help, CommandSet::Talks::to_agent,
                                   [flags, action](Context& context) { return action(context, *flags); });
  add_job_flags(command, *flags);
}

}  // namespace

void add_submit_commands(CommandSet& commands) {
  add(commands, "run", "Run a command somewhere, show its output live, exit with its code", run);
  add(commands, "submit", "Hand in a job and return at once", submit);
  add(commands, "plan", "Ask what a job would cost and where; nothing is bought", plan);
}

}  // namespace abacus
