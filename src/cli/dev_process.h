// Processes that `abacus dev` starts, finds again and ends: each known by pid and start time, so that a pid that was
// given to another program in the meantime is never touched.
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

/// Starts a program in a session of its own, without input, its output appended to `log`. Errors: `unavailable`,
/// `denied`.
Result<ProcessKey> start_detached(const std::string& program, const std::vector<std::string>& arguments,
                                  const std::string& log);

/// True while that very process runs; a zombie does not.
bool is_running(const ProcessKey& process);

/// Sends SIGTERM; if the process still runs after `grace`, SIGKILL to all that descend from it and to itself. Returns
/// once it is gone; harmless if it was gone before. Errors: `denied`, `timed_out` (it survived SIGKILL for 10 s).
Status end_process(const ProcessKey& process, Duration grace);

/// end_process for several at once: all are told before any is waited for. The first error.
Status end_processes(const std::vector<ProcessKey>& processes, Duration grace);

/// The shims that watch over tasks of the agent on a data directory, in order of pid.
std::vector<ProcessKey> shims_of(const std::string& data_dir);

/// A port of 127.0.0.1 that is free now, for each of `count`; all different. Errors: `exhausted`.
Result<std::vector<std::uint16_t>> free_ports(std::size_t count);

/// The file that this program was started from. Errors: `internal`.
Result<std::string> own_program();

/// The last lines of a file, for error messages.
std::string tail_of(const std::string& path, std::size_t lines);

}  // namespace abacus
