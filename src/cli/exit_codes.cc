// Ends and errors to exit codes.
#include "cli/exit_codes.h"

#include <csignal>

namespace abacus {

int exit_code_of(const TaskEnd& end, const std::optional<WallTime>& deadline) {
  switch (end.kind) {
    case EndKind::exited: return end.exit_code;
    case EndKind::signalled: return 128 + end.signal;
    case EndKind::out_of_memory: return 128 + SIGKILL;
    case EndKind::timed_out: return kExitTime;
    case EndKind::unplaceable: return deadline && end.ended_at >= *deadline ? kExitTime : kExitUnplaceable;
    case EndKind::failed_to_start:
    case EndKind::cancelled:
    case EndKind::interrupted:
    case EndKind::lost: return kExitOther;
  }
  return kExitOther;
}

int exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid: return kExitUsage;
    case ErrorCode::unavailable:
    case ErrorCode::timed_out: return kExitUnreachable;
    default: return kExitOther;
  }
}

}  // namespace abacus
