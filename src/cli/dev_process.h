// Processes that `abacus dev` starts, finds again and ends: each known by pid and start time, so that a pid that was given
// to another program in the meantime is never touched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace abacus {

struct ProcessKey {
  std::uint32_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< Since boot, as in /proc/PID/stat.
};

/// Starts a program in a session of its own, without input, its output appended to `log`. Errors: `unavailable`, `denied`.
Result<ProcessKey> start_detached(const std::string& program, const std::vector<std::string>& arguments,
                                  const std::string& log);

/// True while that very process runs; a zombie does not.
bool is_running(const ProcessKey& process);

/// Sends SIGTERM, and SIGKILL if it still runs after `grace`; returns once it is gone. Harmless if it was gone before.
/// Errors: `denied`, `timed_out` (it survived SIGKILL for 10 s).
Status end_process(const ProcessKey& process, Duration grace);

/// Programs whose arguments name something below `folder`, in order of pid, this process excepted.
std::vector<ProcessKey> processes_with_argument_below(const std::string& folder);

/// A port of 127.0.0.1 that is free now, for each of `count`; all different. Errors: `exhausted`.
Result<std::vector<std::uint16_t>> free_ports(std::size_t count);

/// The file that this program was started from. Errors: `internal`.
Result<std::string> own_program();

/// The last lines of a file, for error messages.
std::string tail_of(const std::string& path, std::size_t lines);

}  // namespace abacus
