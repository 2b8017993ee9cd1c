// What a user asks for (a job) and what becomes of it (the end of a task).
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "protocol/resources.h"

namespace abacus {

struct EnvironmentVariable {
  std::string name;
  std::string value;

  auto operator<=>(const EnvironmentVariable&) const = default;
};
BOOST_DESCRIBE_STRUCT(EnvironmentVariable, (), (name, value))

/// What a seller has to know to run a task: the same for all tasks of a job.
struct WorkSpec {
  std::vector<std::string> command;  ///< argv; command[0] is looked up in PATH.
  std::vector<EnvironmentVariable> environment;
  Digest input;                      ///< Manifest unpacked into the working directory before the start; empty: none.
  std::vector<std::string> outputs;  ///< Paths or globs below the working directory, shipped back after the end.
  std::uint64_t log_cap_bytes = 16 << 20;  ///< Kept of stdout and of stderr each; the rest is dropped and marked.
  std::uint32_t pids_max = 0;              ///< 0: the seller's default.
  Duration grace = seconds(30);            ///< Between SIGTERM and SIGKILL.
  Duration time_limit;                     ///< Zero: none.

  auto operator<=>(const WorkSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkSpec, (), (command, environment, input, outputs, log_cap_bytes, pids_max, grace, time_limit))

/// The indices first, first + step, ... up to last.
struct ArraySpec {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t step = 1;
  std::uint32_t running_max = 0;  ///< Tasks running at once; 0: as many as there is room for.

  auto operator<=>(const ArraySpec&) const = default;
  std::uint32_t size() const { return (last - first) / step + 1; }
};
BOOST_DESCRIBE_STRUCT(ArraySpec, (), (first, last, step, running_max))

/// May a task be started again while an earlier attempt may still be running somewhere out of sight?
enum class Repeat : std::uint8_t { idempotent, at_most_once };
BOOST_DESCRIBE_ENUM(Repeat, idempotent, at_most_once)

struct JobSpec {
  std::string name;
  WorkSpec work;
  Bundle bundle;
  ArraySpec array;
  bool is_array = false;
  std::vector<std::string> regions;   ///< Where it may run; empty: anywhere.
  std::optional<Money> budget;        ///< For the whole job; none: at any price.
  std::optional<WallTime> deadline;   ///< Work not placed by then is given up.
  Price urgency{10'000};              ///< What a second's delay of one task is worth to the user.
  Duration expected_run;              ///< Of one task; zero: unknown.
  Duration lost_after = seconds(60);  ///< A seller suspect for so long: the task is placed again.
  Repeat repeat = Repeat::idempotent;
  std::uint32_t attempts_max = 10;  ///< Tries that ended by no fault of the task count too.
  std::uint64_t input_bytes = 0;    ///< To be moved before the start; known to the custodian, used for prices.
  std::string output_dir;           ///< Where the custodian puts outputs; empty: only kept for fetching.

  auto operator<=>(const JobSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobSpec, (),
                      (name, work, bundle, array, is_array, regions, budget, deadline, urgency, expected_run,
                       lost_after, repeat, attempts_max, input_bytes, output_dir))

enum class EndKind : std::uint8_t {
  exited,           ///< By itself; see exit_code.
  signalled,        ///< By a signal from elsewhere; see signal.
  failed_to_start,  ///< Command or inputs unusable; see message.
  out_of_memory,    ///< Killed by its memory limit.
  timed_out,        ///< Killed by its time limit.
  cancelled,        ///< By its user.
  interrupted,      ///< By the seller (lease ended, seller leaving).
  lost,             ///< With its seller, or with the process that watched it.
  unplaceable       ///< Never started: nothing known can hold it, or budget, deadline or tries are used up.
};
BOOST_DESCRIBE_ENUM(EndKind, exited, signalled, failed_to_start, out_of_memory, timed_out, cancelled, interrupted, lost,
                    unplaceable)

/// How one attempt ended and what it used.
struct TaskEnd {
  EndKind kind = EndKind::exited;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string message;  ///< For people; says what was wrong and what would be right.
  WallTime started_at;
  WallTime ended_at;
  Duration cpu_time;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  bool output_truncated = false;
  Digest output;  ///< Manifest of what the task left (declared outputs, stdout, stderr); empty: nothing.

  auto operator<=>(const TaskEnd&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskEnd, (),
                      (kind, exit_code, signal, message, started_at, ended_at, cpu_time, peak_memory_bytes,
                       stdout_bytes, stderr_bytes, output_truncated, output))

/// True for ends that are nobody's answer: the task deserves another attempt.
inline bool deserves_retry(EndKind kind) { return kind == EndKind::lost || kind == EndKind::interrupted; }

Status validate(const WorkSpec& work);
Status validate(const ArraySpec& array);
Status validate(const JobSpec& spec);

}  // namespace abacus
