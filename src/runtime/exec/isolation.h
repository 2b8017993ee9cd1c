// What this host can enforce on a task, found by trying it: cgroup version 2 or 1, whichever controllers are really
// there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/exec/cgroup_files.h"

namespace abacus {

/// One kind of limit. `how`: "cgroup v1 in /sys/fs/cgroup/pids/abacus", or why it is not enforced.
struct Enforcement {
  bool enforced = false;
  std::string how = "switched off";
};

/// Limits are given only where enforced; elsewhere a task runs without them, and a seller can say so in its offers.
struct IsolationReport {
  Enforcement cpu;
  Enforcement memory;
  Enforcement pids;
  std::vector<CgroupBranch> branches;  ///< Where the executor makes its groups; empty: none can be made.

  /// One line for people.
  std::string to_string() const;
};

/// The hierarchies that carry cpu, cpuacct, memory or pids, `path` being this process's own group in them. Version 2
/// with no controller of ours is named only if no version 1 hierarchy is. Pure; the texts are /proc/self/mountinfo and
/// /proc/self/cgroup. For version 2 the controllers are not known from these texts and left unset.
std::vector<CgroupBranch> find_branches(std::string_view mountinfo, std::string_view self_cgroup);

/// Looks, and tries: makes the group "abacus" below this process's own in each hierarchy, a group in that, and sets
/// limits on it. Version 2 forbids processes beside groups with controllers, so there this process moves itself to the
/// group "abacus-agent" if its own group must be divided. Nothing else changes. Blocking, a few milliseconds.
IsolationReport probe_isolation();

}  // namespace abacus
