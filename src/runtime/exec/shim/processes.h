// Which processes belong to whom, read from /proc: for tasks that run without a cgroup of their own.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace abacus::shim {

/// Direct children of a process, of all its threads. Empty if it is gone.
std::vector<pid_t> children_of(pid_t pid);

/// Every descendant of a process, itself not included, as far as the chain of parents is unbroken.
std::vector<pid_t> descendants_of(pid_t pid);

/// Whether the process's environment holds exactly this entry ("K=V"). False for a zombie or a foreign process.
bool has_environment_entry(pid_t pid, std::string_view entry);

}  // namespace abacus::shim
