// A cgroup per running task, in every hierarchy of the lease: limits, metering, and who belongs to the task.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/cgroup_files.h"
#include "runtime/exec/exit_record.h"

namespace abacus::shim {

/// Zero means no such limit.
struct CgroupLimits {
  std::uint32_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t pids_max = 0;
};

/// One group, in all hierarchies. Serves many tasks, one after the other; the directories stay for the next.
class TaskCgroup {
 public:
  /// `branches` hold the lease's own paths; `name` is the group's name below them.
  TaskCgroup(const std::vector<CgroupBranch>& branches, std::string name);
  TaskCgroup(const TaskCgroup&) = delete;
  TaskCgroup& operator=(const TaskCgroup&) = delete;
  ~TaskCgroup();

  /// Sets the limits and starts metering from zero. Empty on success, else what failed.
  std::string prepare(const CgroupLimits& limits);

  /// What a child writes "0" to, to join.
  const std::vector<int>& procs_fds() const { return procs_fds_; }

  /// The processes in the group now.
  std::vector<pid_t> members() const;

  /// Kills every member once and stops the group from forking; see prepare.
  std::size_t kill();

  /// Adds what the group used since prepare; leaves what this host cannot meter.
  void meter(ExitRecord& record) const;

 private:
  std::string open();
  std::string file(const CgroupBranch& branch, const char* name) const { return branch.path + "/" + name; }
  std::uint64_t number(const CgroupBranch& branch, const char* name, const char* key = "") const;
  std::string set_cpu(const CgroupBranch& branch, std::uint32_t milli);
  std::string set_memory(const CgroupBranch& branch, std::uint64_t bytes);
  std::string set_pids(const CgroupBranch& branch, std::uint32_t count);
  Duration cpu_used(bool user) const;
  std::uint64_t oom_kills() const;
  void reset_peak();

  std::vector<CgroupBranch> branches_;  ///< `path` is this group's own directory.
  std::vector<int> procs_fds_;
  bool opened_ = false;
  CgroupLimits set_;  ///< The limits in force, so that equal ones are not written again.
  bool pids_stopped_ = false;
  Duration user_before_;
  Duration system_before_;
  std::uint64_t oom_before_ = 0;
};

/// The groups of one lease.
class TaskCgroups {
 public:
  /// `branches` are those of the host; groups are made in `branch.path/lease_name`. The calling process moves to a
  /// group "shim" there, so that it and what it starts without limits are apart from the agent.
  /// Under contention the lease weighs as many CPUs as it has slots.
  TaskCgroups(std::vector<CgroupBranch> branches, const std::string& lease_name, std::uint32_t slots);

  bool available() const { return !branches_.empty(); }

  /// A free group, prepared. Null with `error` set.
  std::unique_ptr<TaskCgroup> acquire(const CgroupLimits& limits, std::string& error);

  /// Back for the next task; it must have no members.
  void release(std::unique_ptr<TaskCgroup> group);

  /// Leaves and removes everything; what cannot be removed now is left to the agent.
  void remove_all();

 private:
  std::vector<CgroupBranch> branches_;
  std::vector<std::unique_ptr<TaskCgroup>> free_;
  std::size_t made_ = 0;
};

}  // namespace abacus::shim
