// Starting one command: a vfork-like clone that shares this program's memory until exec, so errors come back exactly.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace abacus::shim {

/// Everything the child needs. File descriptors stay the caller's.
struct Command {
  std::vector<std::string> argv;  ///< At least one.
  std::vector<std::string> env;   ///< "K=V", complete. PATH is looked up here.
  std::string work_dir;
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::vector<int> cgroup_procs_fds;  ///< The child joins each before exec.
  std::vector<std::uint32_t> cpus;    ///< Affinity; empty: unchanged.
  std::uint64_t open_files_max = 0;   ///< Soft RLIMIT_NOFILE of the child.
};

/// Runs the command as leader of a session of its own, with default signals and an empty mask, killed by the kernel
/// when this process dies. Returns its pid, or -1 with `error` saying for people why nothing runs.
pid_t launch(const Command& command, std::string& error);

}  // namespace abacus::shim
