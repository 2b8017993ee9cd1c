// Small operations on cgroup directories, version 1 or 2, shared by the executor and its shims.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace abacus {

/// One cgroup hierarchy this host lets us use, and where our groups lie in it.
struct CgroupBranch {
  int version = 1;       ///< 1 or 2.
  bool cpu = false;      ///< Which controllers it carries, of those we use.
  bool cpuacct = false;  ///< Version 1 only; version 2 meters CPU in every group.
  bool memory = false;
  bool pids = false;
  std::string path;  ///< An existing directory in which groups may be made.

  bool operator==(const CgroupBranch&) const = default;

  /// "v1:cpu,memory:/path": how a branch travels on a command line.
  std::string to_string() const;

  /// Inverse of to_string; none for anything else.
  static std::optional<CgroupBranch> parse(std::string_view text);
};

/// The branch in which a process's membership is looked up when tasks are ended: version 2 if present (it can kill a
/// group at once), else one with pids (forks can be stopped), else the first. `branches` must not be empty.
const CgroupBranch& tracking_branch(const std::vector<CgroupBranch>& branches);

/// Reads a whole small file; none if it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

/// Writes in one write(2), as control files want. False with errno set.
bool write_small_file(const std::string& path, std::string_view text);

/// What the group at `path` weighs against its neighbours when CPU time is short, one CPU being the kernel's default.
/// Does nothing on a branch without cpu.
void set_cpu_weight(const CgroupBranch& branch, const std::string& path, std::uint64_t cpu_milli);

/// The process ids in a cgroup.procs text.
std::vector<pid_t> parse_pids(std::string_view text);

/// Kills every process in the group at `path` and below, once. Returns how many were found alive; call again until 0,
/// since a process killed is not gone at once. A missing group counts as empty.
std::size_t kill_cgroup_tree(const CgroupBranch& branch, const std::string& path);

/// Removes the empty groups at `path` and below. True when nothing is left there.
bool remove_cgroup_tree(const std::string& path);

}  // namespace abacus
