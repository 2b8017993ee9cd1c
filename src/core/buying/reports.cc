// Views and explanations, made on demand.
#include "core/buying/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/buying/amounts.h"
#include "core/buying/market_search.h"

namespace abacus {
namespace {

std::string plural(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Duration until(MonoTime at, Now now) { return std::max(at - now.mono, Duration{}); }

/// "3 have no room, 1 asks too much": declines by reason.
std::string declines_text(const Verdict& verdict) {
  static constexpr std::array<const char*, 8> kSaid = {
      "too small", "without room now",        "above the budget", "not leasing for so long", "closed to this region",
      "drained",   "no longer at that price", "unable to answer"};
  std::array<std::uint32_t, kSaid.size()> counts{};
  for (const DeclineDetail& detail : verdict.declines) {
    ++counts[std::min(static_cast<std::size_t>(detail.reason), kSaid.size() - 1)];
  }
  std::string text;
  auto add = [&](std::uint32_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  for (std::size_t i = 0; i < kSaid.size(); ++i) add(counts[i], kSaid[i]);
  add(verdict.silent, "silent");
  return text;
}

std::string verdict_text(const Job& job) {
  const Verdict& verdict = job.verdict;
  std::string text = plural(verdict.asked, "seller") + " asked";
  if (std::string said = declines_text(verdict); !said.empty()) text += ": " + said;
  if (verdict.too_poor) {
    text += fmt::format("; the lowest price heard, {}, is more than the rest of the budget ({}) buys a task's run for",
                        to_string(*verdict.lowest_price), to_string(job.left().value_or(Money{})));
  }
  std::optional<Duration> soonest;
  for (const DeclineDetail& detail : verdict.declines) {
    if (detail.free_in > Duration{} && (!soonest || detail.free_in < *soonest)) soonest = detail.free_in;
  }
  if (soonest) text += fmt::format("; room is expected in {}", to_string(*soonest));
  return text;
}

std::string idle_sentence(const Job& job) {
  std::uint32_t slots = 0;
  for (const Lease* lease : job.leases) slots += lease->released() ? 0 : lease->record.slots;
  std::uint32_t most = job.spec().array.running_max;
  if (most > 0 && slots >= most) return fmt::format("at most {} of its tasks run at once, as asked for", most);
  return fmt::format("its turn comes in one of the {} leased", plural(slots, "slot"));
}

struct WaitingText {
  const Job& job;
  Now now;

  std::string operator()(const Idle&) const { return idle_sentence(job); }
  std::string operator()(const Asking& asking) const {
    std::uint64_t silent = static_cast<std::uint64_t>(
        std::count_if(asking.round.asked.begin(), asking.round.asked.end(), [](const Asked& a) { return a.silent(); }));
    return fmt::format("{} asked for a price, {} of them still to answer", plural(asking.round.asked.size(), "seller"),
                       silent);
  }
  std::string operator()(const Awarding& awarding) const {
    return plural(awarding.open.size(), "award") + " out, to be accepted or refused";
  }
  std::string operator()(const CoolingDown& wait) const {
    if (job.verdict.asked == 0) {
      return fmt::format(
          "all sellers that could hold it declined a moment ago or are suspected to be down; asking again in {}",
          to_string(until(wait.until, now)));
    }
    return fmt::format("{}; asking again in {}, or when one calls back", verdict_text(job),
                       to_string(until(wait.until, now)));
  }
  std::string operator()(const Searching& search) const {
    return fmt::format("no node known so far can hold {}; searching for another {}", needs_text(job.spec()),
                       to_string(until(search.until, now)));
  }
};

std::string placed_sentence(const TaskView& view) {
  std::string where = view.seller.short_string() + (view.region.empty() ? "" : " in " + view.region);
  const char* doing = "was placed with";
  if (view.phase == TaskPhase::staging) doing = "gets its inputs at";
  if (view.phase == TaskPhase::running) doing = "runs at";
  if (view.phase == TaskPhase::fetching) doing = "has ended; its outputs are fetched from";
  return fmt::format("{} {} at {} a slot, after {} of negotiation", doing, where, to_string(view.price),
                     plural(view.rounds, "round"));
}

std::string ended_sentence(const TaskView& view) {
  const TaskEnd& end = *view.end;
  std::string text;
  switch (end.kind) {
    case EndKind::exited: text = fmt::format("exited with code {}", end.exit_code); break;
    case EndKind::signalled: text = fmt::format("was ended by signal {}", end.signal); break;
    case EndKind::failed_to_start: text = "could not be started"; break;
    case EndKind::out_of_memory: text = "was killed by its memory limit"; break;
    case EndKind::timed_out: text = "was killed by its time limit"; break;
    case EndKind::cancelled: text = "was cancelled"; break;
    case EndKind::interrupted: text = "was interrupted by its seller"; break;
    case EndKind::lost: text = "was lost"; break;
    case EndKind::unplaceable: text = "was never placed"; break;
  }
  if (view.attempt > 0 && !view.seller.empty()) {
    text += fmt::format(" at {}{} ({} a slot)", view.seller.short_string(),
                        view.region.empty() ? "" : " in " + view.region, to_string(view.price));
  }
  return end.message.empty() ? text : text + ": " + end.message;
}

}  // namespace

std::string waiting_sentence(const Job& job, Now now) {
  if (job.pending.empty()) return {};
  return std::visit(WaitingText{job, now}, job.episode);
}

JobView view_of(const Job& job, Now now) {
  JobView view;
  const JobSpec& spec = job.spec();
  view.job = job.id();
  view.name = spec.name;
  view.command = spec.work.command;
  view.bundle = spec.bundle;
  view.is_array = spec.is_array;
  view.tasks = job.size();
  view.waiting = job.pending.size();
  view.succeeded = job.succeeded;
  view.failed = job.failed;
  view.placed = view.tasks - std::min(view.tasks, view.waiting + view.succeeded + view.failed);
  view.cancelled = job.record.cancelled;
  view.ended = job.record.ended_at.has_value();
  view.spent = job.record.spent;
  view.committed = job.committed();
  view.budget = spec.budget;
  view.deadline = spec.deadline;
  view.submitted_at = job.record.submitted_at;
  view.ended_at = job.record.ended_at;
  view.waiting_for = waiting_sentence(job, now);
  return view;
}

TaskView view_of(const Job& job, std::uint32_t position) {
  TaskView view;
  view.task = job.task_id(position);
  view.submitted_at = job.record.submitted_at;
  const Task* task = job.find(position);
  if (!task) {
    view.end = job.record.rest;
    if (view.end) view.phase = TaskPhase::ended;
    return view;
  }
  TaskRecord record = job.record_of(position);
  view.phase = task->phase;
  view.attempt = record.attempt;
  view.seller = record.seller;
  view.region = record.region;
  view.rounds = record.rounds;
  view.price = record.price;
  if (task->attempt > 0) view.placed_at = task->placed_at;
  if (task->started_at > WallTime{}) view.started_at = task->started_at;
  view.end = record.end;
  if (view.end && view.end->started_at > WallTime{}) {
    view.cost = most_cost(view.price, 1, view.end->ended_at - view.end->started_at);
  }
  return view;
}

ExplainView explain(const Job& job, std::uint32_t position, Now now) {
  ExplainView view;
  view.task = view_of(job, position);
  if (view.task.end) {
    view.summary = ended_sentence(view.task);
  } else if (view.task.phase == TaskPhase::waiting) {
    view.summary = "waits: " + waiting_sentence(job, now);
  } else {
    view.summary = placed_sentence(view.task);
  }
  view.lines = job.history.lines();
  return view;
}

BoughtLeaseView view_of(const Lease& lease) {
  BoughtLeaseView view;
  view.lease = lease.id();
  view.job = lease.record.job;
  view.seller = lease.record.seller.node;
  view.region = lease.record.region;
  view.slots = lease.record.slots;
  view.slots_busy = static_cast<std::uint32_t>(std::min<std::size_t>(lease.attempts.size(), lease.record.slots));
  view.price = lease.record.price;
  view.until = lease.record.until;
  view.accepted = lease.live();
  view.released = lease.released();
  return view;
}

}  // namespace abacus
