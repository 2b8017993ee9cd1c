// Custody of one job.
#include "core/buying/job.h"

#include <algorithm>

#include "base/check.h"
#include "core/buying/amounts.h"

namespace abacus {

Job::Job(JobRecord job_record) : record(std::move(job_record)), shape(shape_of(record.spec.bundle)) {
  // The trace of a job is told by its name, so that it stays the same over a restart.
  std::copy(record.job.bytes.begin(), record.job.bytes.end(), trace.trace.bytes.begin());
  trace.trace.bytes.back() = 1;
  std::copy(record.job.bytes.begin(), record.job.bytes.end(), trace.span.bytes.begin());
  trace.span.bytes.back() = 1;
}

TaskId Job::task_id(std::uint32_t position) const {
  return {record.job, record.spec.array.first + position * record.spec.array.step};
}

std::optional<std::uint32_t> Job::position_of(std::uint32_t index) const {
  const ArraySpec& array = record.spec.array;
  if (index < array.first || index > array.last || (index - array.first) % array.step != 0) return std::nullopt;
  return (index - array.first) / array.step;
}

Task& Job::task(std::uint32_t position) {
  CHECK(position < size());
  if (position >= tasks.size()) tasks.resize(position + 1);
  return tasks[position];
}

const Task* Job::find(std::uint32_t position) const {
  if (position >= tasks.size()) return nullptr;
  const Task& task = tasks[position];
  return task.attempt > 0 || task.end || task.cancelled ? &task : nullptr;
}

bool Job::has_ended(std::uint32_t position) const {
  const Task* task = find(position);
  return task ? task->ended() : record.rest.has_value();
}

TaskRecord Job::record_of(std::uint32_t position) const {
  const Task& task = tasks[position];
  TaskRecord result;
  result.task = task_id(position);
  result.attempt = task.attempt;
  if (!task.lease.empty()) result.lease = task.lease;
  if (task.place < places.size() && task.attempt > 0) {
    const Place& place = places[task.place];
    result.seller = place.seller;
    result.region = place.region;
    result.rounds = place.rounds;
    result.price = place.price;
  }
  result.placed_at = task.placed_at;
  if (task.end) result.end = *task.end;
  result.cancelled = task.cancelled;
  return result;
}

Duration Job::run() const { return learned_run > Duration{} ? learned_run : record.spec.expected_run; }

Duration Job::run_or_minute() const { return run() > Duration{} ? run() : minutes(1); }

Money Job::committed() const {
  Money total;
  for (const Lease* lease : leases) total = sum(total, lease->committed());
  return total;
}

std::optional<Money> Job::left() const {
  if (!record.spec.budget) return std::nullopt;
  return difference(*record.spec.budget, sum(record.spent, committed()));
}

Duration Job::shortest_lease() const {
  if (run() <= Duration{}) return minutes(1);
  return run() + run() / 20;
}

void Job::learn_run(Duration running) {
  // Under 0.1 ms it is the noise of starting a process, and lets priming grow without bound.
  Duration sample = std::clamp(running, microseconds(100), hours(24 * 30));
  learned_run = learned_run > Duration{} ? learned_run - learned_run / 8 + sample / 8 : sample;
}

}  // namespace abacus
