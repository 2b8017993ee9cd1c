// The contract for running attempts: leases opened on this machine, commands launched in them, their ends reported.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/exec/exit_record.h"
#include "runtime/exec/isolation.h"

namespace abacus {

struct LeaseSpec {
  LeaseId lease;
  WallTime deadline;        ///< Its end. While the agent lives it decides; without an agent, the lease ends by itself.
  std::uint32_t slots = 1;  ///< Attempts that may run in it at once.
};

/// `none`: the task shares its lease's cgroup, so that nothing escapes, but has no limits and is metered by rusage.
/// `cgroup`: a group of its own with limits and exact metering, where the host has them (IsolationReport).
enum class Limits { none, cgroup };

struct LaunchSpec {
  LeaseId lease;
  AttemptId attempt;
  std::vector<std::string> argv;  ///< The command; a name without '/' is looked up in PATH of `env`.
  std::vector<std::string> env;   ///< "K=V", the whole environment; ABACUS_SHIM_TASK is added.
  std::string work_dir;           ///< Empty (usual): AttemptPaths::work, created when missing and deleted by forget.
                                  ///< Otherwise an existing folder of the caller's, never deleted.
  Limits limits = Limits::cgroup;
  std::uint32_t cpu_milli = 0;                 ///< CPU time a second, in thousandths of a CPU; 0: no limit.
  std::uint64_t memory_bytes = 0;              ///< 0: no limit. Beyond it the kernel kills the task.
  std::uint32_t pids_max = 0;                  ///< Processes and threads; 0: no limit.
  std::uint64_t output_cap_bytes = 64u << 20;  ///< Of each of stdout and stderr; what is beyond is read and dropped.
  Duration time_limit;                         ///< After this the task is interrupted; 0: none.
  Duration grace = seconds(30);     ///< From SIGTERM to SIGKILL when the time limit or the lease's end interrupts.
  std::vector<std::uint32_t> cpus;  ///< CPUs it may use; empty: all.
};

/// Where an attempt's files are. A stream that printed nothing has no file.
struct AttemptPaths {
  std::string work;
  std::string out;
  std::string err;
};

/// The command runs.
struct AttemptStarted {
  LeaseId lease;
  AttemptId attempt;
  std::uint32_t pid = 0;
  WallTime wall;
};

/// Nothing of the attempt runs any more (or it could not start: launch_error); the record is on disk.
struct AttemptEnded {
  LeaseId lease;
  AttemptId attempt;
  ExitRecord record;
};

/// The lease broke. Attempts not reported as ended before this have been killed. Follow with end_lease.
struct LeaseLost {
  LeaseId lease;
  std::string reason;
};

/// After close_lease or end_lease: no process and no file of the lease is left.
struct LeaseRemoved {
  LeaseId lease;
};

using ExecEvent = std::variant<AttemptStarted, AttemptEnded, LeaseLost, LeaseRemoved>;
using ExecSink = std::function<void(ExecEvent)>;

/// What a former life of this agent left.
struct FoundAttempt {
  AttemptId attempt;
  bool ended = false;
  std::uint32_t pid = 0;  ///< While it runs.
  WallTime started;
  ExitRecord record;  ///< Once it has ended.
};

/// `live` false: the lease broke meanwhile; what it lists has ended, whatever else ran in it has been killed.
struct FoundLease {
  LeaseId lease;
  bool live = false;
  std::vector<FoundAttempt> attempts;
};

/// Runs attempts. No call blocks or calls back before it returns. All calls and all events are on one thread at a time:
/// the asio executor given to the implementation must be a single thread's or a strand.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Errors: `already_exists` for a lease that is open or whose folder exists; `unavailable` when the system refuses a
  /// process, folder or socket.
  virtual Status open_lease(const LeaseSpec& spec) = 0;

  /// Started and then Ended follow, or Ended alone with a launch_error, or LeaseLost. An attempt that runs or has ended
  /// is not run again; its state is reported anew. Errors: `not_found` for a lease that is not open; `invalid` for a
  /// command that is too long; `exhausted` when too much waits to be taken over.
  virtual Status launch(const LaunchSpec& spec) = 0;

  /// SIGTERM to every process of the attempt, after `grace` SIGKILL. Ended follows. Errors: `not_found`.
  virtual Status interrupt(const AttemptId& attempt, Duration grace) = 0;

  /// The attempt has ended and nothing of it is needed any more: deletes its record and files. Errors: `not_found`;
  /// `invalid` while it runs.
  virtual Status forget(const AttemptId& attempt) = 0;

  /// No more launches; once every attempt has ended and been forgotten, the lease is removed and LeaseRemoved follows.
  /// Errors: `not_found`.
  virtual Status close_lease(const LeaseId& lease) = 0;

  /// The lease's end moved to `deadline`, if that is later. Errors: `not_found`.
  virtual Status extend_lease(const LeaseId& lease, WallTime deadline) = 0;

  /// Kills what runs in the lease, deletes its files. No more events of its attempts; LeaseRemoved follows.
  /// Errors: `not_found`.
  virtual Status end_lease(const LeaseId& lease) = 0;

  /// Takes over the leases that a former life of this agent left, and those of this one, as if it had just begun: what
  /// was known before is forgotten, and no event or answer of it comes any more. `done` is called once, as an event
  /// would be, unless adopt is called again before. What the caller does not want it gives to end_lease.
  virtual void adopt(std::function<void(std::vector<FoundLease>)> done) = 0;

  virtual AttemptPaths paths(const LeaseId& lease, const AttemptId& attempt) const = 0;
  virtual const IsolationReport& isolation() const = 0;
};

}  // namespace abacus
