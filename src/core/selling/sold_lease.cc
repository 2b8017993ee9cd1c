// The attempts of a lease. Whatever the executor is told goes out held, so that it hears things in the order in which
// they became durable.
#include "core/selling/sold_lease.h"

#include <algorithm>

#include "core/selling/device_ledger.h"

namespace abacus {
namespace {

TaskEnd end_now(EndKind kind, std::string message, Now now) {
  TaskEnd end;
  end.kind = kind;
  end.message = std::move(message);
  end.ended_at = now.wall;
  return end;
}

/// An executor cannot know who wanted a process stopped. One that had finished in time keeps its own end.
void name_end(TaskEnd& end, std::optional<EndKind> stopping) {
  if (!stopping) return;
  bool cut_short = end.kind == EndKind::signalled || end.kind == EndKind::cancelled ||
                   end.kind == EndKind::interrupted || (end.kind == EndKind::exited && end.exit_code != 0);
  if (cut_short) end.kind = *stopping;
}

const char* why(EndKind kind) {
  return kind == EndKind::cancelled ? "cancelled before it started" : "the lease ended before it started";
}

}  // namespace

SoldLease::SoldLease(SoldLeaseRecord sold, TraceContext trace_context, Duration grace_limit)
    : record(std::move(sold)), trace(trace_context), grace_(std::min(record.work.grace, grace_limit)) {
  devices_per_slot_ = devices_per_slot(record.bundle);
  if (devices_per_slot_ == 0) return;
  for (std::uint32_t slot = record.slots; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

void SoldLease::restore(const RunRecord& run) {
  if (run.end) {
    attempts_.insert_or_assign(run.attempt, Ended{run});
    ++ended_;
    return;
  }
  Placement placement{run, slot_of(run.devices), {}};
  ++busy_;
  if (run.started_at) {
    attempts_.insert_or_assign(run.attempt, Running{placement});
  } else {
    attempts_.insert_or_assign(run.attempt, Intended{placement});
  }
}

std::uint32_t SoldLease::slot_of(const std::vector<std::uint32_t>& devices) {
  for (std::size_t i = 0; i < free_slots_.size(); ++i) {
    std::uint32_t slot = free_slots_[i];
    if (devices_of(slot) != devices) continue;
    free_slots_.erase(free_slots_.begin() + static_cast<std::ptrdiff_t>(i));
    return slot;
  }
  return record.slots;  // No slot of this lease, so none is given back later.
}

std::vector<std::uint32_t> SoldLease::devices_of(std::uint32_t slot) const {
  std::size_t first = static_cast<std::size_t>(slot) * devices_per_slot_;
  if (first + devices_per_slot_ > record.devices.size()) return {};
  auto begin = record.devices.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + devices_per_slot_};
}

void SoldLease::add(const AttemptId& attempt) {
  attempts_.emplace(attempt, Queued{});
  queue_.push_back(attempt);
}

bool SoldLease::may_start() const {
  const auto* open = std::get_if<LeaseOpen>(&phase);
  return open != nullptr && !open->extended && !awaits_adoption;
}

bool SoldLease::next_in(std::deque<AttemptId>& line, AttemptId& attempt) const {
  bool queued = &line == &queue_;
  while (!line.empty()) {
    attempt = line.front();
    line.pop_front();
    auto found = attempts_.find(attempt);
    if (found == attempts_.end()) continue;
    if (queued ? std::holds_alternative<Queued>(found->second) : std::holds_alternative<Ready>(found->second))
      return true;
  }
  return false;
}

void SoldLease::advance(Now now, Effects& fx) {
  if (!may_start()) return;
  bool has_inputs = !record.work.input.empty();
  AttemptId next;
  while (busy_ < record.slots && next_in(has_inputs ? ready_ : queue_, next)) {
    Duration staged_for = has_inputs ? std::get<Ready>(attempts_.at(next)).staged_for : Duration{};
    intend(next, staged_for, now, fx);
  }
  if (!has_inputs) return;
  while (std::uint64_t{staged_} + busy_ < 2ull * record.slots && next_in(queue_, next)) stage(next, now, fx);
}

void SoldLease::stage(const AttemptId& attempt, Now now, Effects& fx) {
  attempts_.insert_or_assign(attempt, Staging{now.mono});
  ++staged_;
  fx.after_commit(StageInputs{record.lease, attempt, record.buyer, record.work.input});
}

void SoldLease::staged(const AttemptId& attempt, const std::string& problem, Now now, Effects& fx) {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return;
  const auto* staging = std::get_if<Staging>(&found->second);
  if (staging == nullptr) return;
  if (!problem.empty()) {
    finish(attempt, end_now(EndKind::lost, "its inputs could not be put in place: " + problem, now), now, fx);
  } else {
    found->second = Ready{std::max(now.mono - staging->since, Duration{})};
    ready_.push_back(attempt);
  }
  advance(now, fx);
}

void SoldLease::intend(const AttemptId& attempt, Duration staged_for, Now now, Effects& fx) {
  Placement placement;
  // Staging is metered from a start intent on, and time spent waiting for the slot is none of it.
  placement.record = {attempt, record.lease, now.wall - staged_for, {}, {}, {}};
  if (devices_per_slot_ > 0 && !free_slots_.empty()) {
    placement.slot = free_slots_.back();
    free_slots_.pop_back();
    placement.record.devices = devices_of(placement.slot);
  }
  if (!record.work.input.empty()) --staged_;
  ++busy_;
  fx.put(placement.record);
  fx.after_commit(Launch{record.lease, attempt, record.buyer.node, record.work, record.bundle, placement.record.devices,
                         record.until});
  attempts_.insert_or_assign(attempt, Intended{std::move(placement)});
}

bool SoldLease::started(const AttemptId& attempt, WallTime at, Effects& fx) {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return false;
  auto* intended = std::get_if<Intended>(&found->second);
  if (intended == nullptr) return false;
  Placement placement = std::move(intended->placement);
  placement.record.started_at = at;
  fx.put(placement.record);
  found->second = Running{std::move(placement)};
  fx.send(record.buyer, trace, Started{record.lease, attempt, at});
  return true;
}

bool SoldLease::ended(const AttemptId& attempt, TaskEnd end, Now now, Effects& fx) {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return false;
  Placement* placement = placement_of(found->second);
  if (placement == nullptr) return false;
  name_end(end, placement->stopping);
  if (end.ended_at.ns == 0) end.ended_at = now.wall;
  bool ran = end.kind != EndKind::failed_to_start && end.started_at.ns != 0;
  if (!placement->record.started_at && ran) placement->record.started_at = end.started_at;
  if (placement->record.started_at && end.started_at.ns == 0) end.started_at = *placement->record.started_at;
  finish(attempt, std::move(end), now, fx);
  advance(now, fx);
  return true;
}

RunRecord SoldLease::leave(Attempt& attempt, const AttemptId& id, Now now) {
  if (Placement* placement = placement_of(attempt)) {
    --busy_;
    if (devices_per_slot_ > 0 && placement->slot < record.slots) free_slots_.push_back(placement->slot);
    return std::move(placement->record);
  }
  if (!std::holds_alternative<Queued>(attempt)) --staged_;
  return {id, record.lease, now.wall, {}, {}, {}};
}

void SoldLease::finish(const AttemptId& attempt, TaskEnd end, Now now, Effects& fx) {
  Attempt& current = attempts_.at(attempt);
  RunRecord run = leave(current, attempt, now);
  run.end = std::move(end);
  fx.put(run);
  current = Ended{std::move(run)};
  ++ended_;
  if (live() == 0) idle_since = now.mono;
  send_done(attempt, fx);
}

void SoldLease::interrupt(const AttemptId& attempt, Duration grace, EndKind kind, Now now, Effects& fx) {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end() || std::holds_alternative<Ended>(found->second)) return;
  if (Placement* placement = placement_of(found->second)) {
    placement->stopping = kind;
    fx.after_commit(InterruptProcess{record.lease, attempt, grace});
  } else {
    finish(attempt, end_now(kind, why(kind), now), now, fx);
  }
}

void SoldLease::interrupt_all(EndKind kind, Now now, Effects& fx) {
  for (auto& [attempt, state] : attempts_) interrupt(attempt, grace_, kind, now, fx);
}

void SoldLease::abandon_all(EndKind kind, const std::string& message, Now now, Effects& fx) {
  for (auto& [attempt, state] : attempts_) {
    if (!std::holds_alternative<Ended>(state)) finish(attempt, end_now(kind, message, now), now, fx);
  }
}

void SoldLease::abandon(const AttemptId& attempt, EndKind kind, const std::string& message, Now now, Effects& fx) {
  auto found = attempts_.find(attempt);
  if (found != attempts_.end() && placement_of(found->second)) finish(attempt, end_now(kind, message, now), now, fx);
}

bool SoldLease::forget(const AttemptId& attempt, Effects& fx) {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return false;
  const auto* over = std::get_if<Ended>(&found->second);
  if (over == nullptr) return false;
  Metered sum{record.tasks_ended, record.staging, record.running};
  abacus::add(sum, over->record);
  record.tasks_ended = sum.tasks_ended;
  record.staging = sum.staging;
  record.running = sum.running;
  attempts_.erase(found);
  --ended_;
  fx.erase<RunRecord>(attempt);
  fx.after_commit(ForgetAttempt{record.lease, attempt});
  return true;
}

void SoldLease::send_done(const AttemptId& attempt, Effects& fx) const {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return;
  const auto* over = std::get_if<Ended>(&found->second);
  if (over != nullptr) fx.after_commit(Send{record.buyer, trace, done_of(over->record)});
}

void SoldLease::send_receipt(Effects& fx) const {
  if (record.receipt) fx.after_commit(Send{record.buyer, trace, *record.receipt});
}

AttemptState SoldLease::state(const AttemptId& attempt) const {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return AttemptState::unknown;
  if (std::holds_alternative<Ended>(found->second)) return AttemptState::ended;
  return std::holds_alternative<Running>(found->second) ? AttemptState::running : AttemptState::staging;
}

std::vector<AttemptId> SoldLease::placed() const {
  std::vector<AttemptId> ids;
  for (const auto& [attempt, state] : attempts_) {
    if (std::holds_alternative<Intended>(state) || std::holds_alternative<Running>(state)) ids.push_back(attempt);
  }
  return ids;
}

const WallTime* SoldLease::intended_at(const AttemptId& attempt) const {
  auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return nullptr;
  const auto* intended = std::get_if<Intended>(&found->second);
  return intended == nullptr ? nullptr : &intended->placement.record.intended_at;
}

Metered SoldLease::metered() const {
  Metered sum{record.tasks_ended, record.staging, record.running};
  for (const auto& [attempt, state] : attempts_) {
    if (const auto* over = std::get_if<Ended>(&state)) abacus::add(sum, over->record);
  }
  return sum;
}

}  // namespace abacus
