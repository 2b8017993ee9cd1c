// One task of a lease from launch to its exit record: output, signals, and the hunt for what it leaves behind.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "runtime/exec/shim/capped_file.h"
#include "runtime/exec/shim/task_cgroup.h"
#include "runtime/exec/shim/work_folders.h"
#include "runtime/exec/wire.h"

namespace abacus::shim {

inline constexpr MonoTime kNever{std::numeric_limits<std::int64_t>::max()};

/// States: running (the main process lives), then ending (it is reaped; others of the task may live) until sweep()
/// finds none. While an interrupted task's grace lasts, the others may end by themselves; otherwise they are killed at
/// once.
class Task {
 public:
  /// `marker` is the environment entry that tells this task's processes from those of its neighbours.
  Task(const wire::Launch& order, std::string marker);

  /// Starts the command. False: the record says why, and the task is over. `group` may be null: no limits.
  bool start(const wire::Launch& order, std::unique_ptr<TaskCgroup> group, WorkFolders& folders, int null_fd,
             std::uint64_t open_files_max);

  const AttemptId& attempt() const { return attempt_; }
  pid_t pid() const { return pid_; }
  WallTime started() const { return record_.started; }
  CappedFile& out() { return out_; }
  CappedFile& err() { return err_; }
  bool running() const { return running_; }

  /// When the task next wants on_timer; kNever if not by itself.
  MonoTime next_timer() const;

  /// SIGTERM to every process now, SIGKILL at now + grace, or sooner if that was promised before.
  void interrupt(MonoTime now, Duration grace);

  /// Interrupts with the task's own grace; for the lease's end.
  void interrupt(MonoTime now) { interrupt(now, grace_); }

  /// Time limit and end of grace.
  void on_timer(MonoTime now);

  /// The main process has ended but is not reaped yet: its group can still be named safely.
  void on_main_exit(MonoTime now);

  /// A process of the task was reaped: the main one or an orphan that was recognised.
  void on_reaped(pid_t pid, int status, const rusage& usage);

  /// Whether `pid`, a child of this program that is no task's main process, is of this task. Remembered, because a
  /// zombie can no longer be recognised.
  bool claims_orphan(pid_t pid);

  /// Counts the task's remaining processes, ending them when they are to be ended. `orphans`: children of this program
  /// that are no main processes. True once nothing is left.
  bool sweep(MonoTime now, const std::vector<pid_t>& orphans);

  /// Reads the rest of the output, meters, and completes the record. After sweep returned true.
  const ExitRecord& finish(std::span<char> scratch);

  /// The record of a task whose start failed.
  const ExitRecord& record() const { return record_; }

  std::unique_ptr<TaskCgroup> take_group() { return std::move(group_); }

 private:
  std::vector<pid_t> processes();
  void signal_all(int signal);
  bool in_grace(MonoTime now) const { return kill_at_ != kNever && now < kill_at_; }

  AttemptId attempt_;
  std::string marker_;
  std::string folder_;
  Duration grace_;
  Duration time_limit_;
  MonoTime time_limit_at_ = kNever;
  MonoTime kill_at_ = kNever;
  std::unique_ptr<TaskCgroup> group_;
  pid_t pid_ = -1;
  bool running_ = false;
  std::set<pid_t> orphans_;  ///< Recognised, not reaped yet.
  CappedFile out_;
  CappedFile err_;
  ExitRecord record_;
};

}  // namespace abacus::shim
