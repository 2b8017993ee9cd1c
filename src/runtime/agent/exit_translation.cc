// Which of several causes an exit record counts as, in order of precedence.
#include "runtime/agent/exit_translation.h"

namespace abacus {
namespace {

EndKind kind_of(const ExitRecord& record) {
  if (!record.launch_error.empty()) return EndKind::failed_to_start;
  if (record.oom_killed) return EndKind::out_of_memory;
  if (record.timed_out) return EndKind::timed_out;
  if (record.interrupted) return EndKind::cancelled;
  return record.signal != 0 ? EndKind::signalled : EndKind::exited;
}

std::string message_of(const ExitRecord& record, EndKind kind) {
  if (kind == EndKind::failed_to_start) return record.launch_error;
  if (kind == EndKind::out_of_memory) return "killed by its memory limit: ask for more with --memory";
  if (kind == EndKind::timed_out) return "ran into its time limit: ask for more with --time-limit";
  return {};
}

}  // namespace

TaskEnd to_task_end(const ExitRecord& record) {
  TaskEnd end;
  end.kind = kind_of(record);
  end.exit_code = record.exit_code;
  end.signal = record.signal;
  end.message = message_of(record, end.kind);
  end.started_at = record.started;
  end.ended_at = record.ended;
  end.cpu_time = record.cpu_user + record.cpu_system;
  end.peak_memory_bytes = record.peak_memory_bytes;
  end.stdout_bytes = record.stdout_bytes;
  end.stderr_bytes = record.stderr_bytes;
  end.output_truncated = record.stdout_truncated || record.stderr_truncated;
  return end;
}

}  // namespace abacus
