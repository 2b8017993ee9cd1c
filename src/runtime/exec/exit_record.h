// How one attempt ended: the shim meters it, stores it, and the seller's receipt is built from it.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace abacus {

/// Exactly one of these holds: `launch_error` is not empty (nothing ran), `signal` is not 0, or `exit_code` counts.
struct ExitRecord {
  std::int32_t exit_code = -1;  ///< 0..255 of the main process; -1 when it did not exit by itself.
  std::int32_t signal = 0;      ///< The signal that ended the main process, 0 for none.
  WallTime started;             ///< When the main process was running the command.
  WallTime ended;               ///< When the last process of the task was gone.
  Duration cpu_user;            ///< Of all the task's processes that could be metered; see executor.h.
  Duration cpu_system;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t stdout_bytes = 0;  ///< Printed by the task; the file holds at most the cap.
  std::uint64_t stderr_bytes = 0;
  bool stdout_truncated = false;  ///< The file holds less than was printed.
  bool stderr_truncated = false;
  bool oom_killed = false;   ///< The memory limit killed a process of the task.
  bool timed_out = false;    ///< The time limit interrupted it.
  bool interrupted = false;  ///< Somebody asked it to stop: interrupt, close, or the lease's end.
  std::string launch_error;  ///< Why nothing ran, for people: "command 'foo' not found in PATH (/usr/bin:/bin)".

  bool operator==(const ExitRecord&) const = default;
};

}  // namespace abacus
