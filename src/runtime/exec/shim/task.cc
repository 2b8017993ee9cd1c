// A task's signals, sweep and record.
#include "runtime/exec/shim/task.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/exec/shim/clock.h"
#include "runtime/exec/shim/launch.h"
#include "runtime/exec/shim/processes.h"

namespace abacus::shim {
namespace {

Duration duration_of(const timeval& time) { return seconds(time.tv_sec) + microseconds(time.tv_usec); }

/// now + span without overflow; spans come from outside.
MonoTime later(MonoTime now, Duration span) {
  span.ns = std::clamp<std::int64_t>(span.ns, 0, kNever.ns - now.ns - 1);
  return now + span;
}

}  // namespace

Task::Task(const wire::Launch& order, std::string marker)
    : attempt_(order.attempt),
      marker_(std::move(marker)),
      folder_(order.folder),
      grace_(order.grace),
      time_limit_(order.time_limit) {}

bool Task::start(const wire::Launch& order, std::unique_ptr<TaskCgroup> group, WorkFolders& folders, int null_fd,
                 std::uint64_t open_files_max) {
  group_ = std::move(group);
  Command command{order.argv, order.env, order.work_dir, null_fd, -1, -1, {}, order.cpus, open_files_max};
  command.env.push_back(marker_);
  if (command.work_dir.empty()) {
    command.work_dir = folder_;
    folders.provide(folder_);
  }
  command.stdout_fd = out_.open(folder_ + ".stdout", order.output_cap_bytes);
  command.stderr_fd = err_.open(folder_ + ".stderr", order.output_cap_bytes);
  if (command.stdout_fd < 0 || command.stderr_fd < 0) {
    record_.launch_error = std::string("no pipe for the task's output: ") + std::strerror(errno);
  } else {
    if (group_) command.cgroup_procs_fds = group_->procs_fds();
    pid_ = launch(command, record_.launch_error);
  }
  if (command.stdout_fd >= 0) ::close(command.stdout_fd);
  if (command.stderr_fd >= 0) ::close(command.stderr_fd);
  record_.started = record_.ended = wall_now();
  running_ = pid_ > 0;
  if (running_ && time_limit_.ns > 0) time_limit_at_ = later(mono_now(), time_limit_);
  return running_;
}

MonoTime Task::next_timer() const { return running_ ? std::min(time_limit_at_, kill_at_) : kill_at_; }

void Task::interrupt(MonoTime now, Duration grace) {
  bool first = !record_.interrupted;
  record_.interrupted = true;
  kill_at_ = std::min(kill_at_, later(now, grace));
  if (first) signal_all(SIGTERM);
}

void Task::on_timer(MonoTime now) {
  if (running_ && now >= time_limit_at_) {
    time_limit_at_ = kNever;
    record_.timed_out = true;
    kill_at_ = std::min(kill_at_, later(now, grace_));
    if (!record_.interrupted) signal_all(SIGTERM);
  }
  if (now >= kill_at_) signal_all(SIGKILL);
}

void Task::on_main_exit(MonoTime now) {
  if (!group_ && !in_grace(now)) ::kill(-pid_, SIGKILL);
}

void Task::on_reaped(pid_t pid, int status, const rusage& usage) {
  record_.cpu_user += duration_of(usage.ru_utime);
  record_.cpu_system += duration_of(usage.ru_stime);
  record_.peak_memory_bytes = std::max<std::uint64_t>(record_.peak_memory_bytes, usage.ru_maxrss * 1024ull);
  orphans_.erase(pid);
  if (pid != pid_ || !running_) return;
  running_ = false;
  if (WIFEXITED(status)) record_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) record_.signal = WTERMSIG(status);
}

bool Task::claims_orphan(pid_t pid) {
  if (orphans_.contains(pid)) return true;
  if (::getsid(pid) != pid_ && !has_environment_entry(pid, marker_)) return false;
  orphans_.insert(pid);
  return true;
}

bool Task::sweep(MonoTime now, const std::vector<pid_t>& orphans) {
  if (running_) return false;
  if (group_) {
    if (group_->members().empty()) return true;
    if (!in_grace(now)) group_->kill();
    return false;
  }
  bool gone = true;
  for (pid_t orphan : orphans) {
    if (!claims_orphan(orphan)) continue;
    gone = false;
    if (!in_grace(now)) ::kill(orphan, SIGKILL);
  }
  return gone;
}

const ExitRecord& Task::finish(std::span<char> scratch) {
  out_.finish(scratch);
  err_.finish(scratch);
  record_.stdout_bytes = out_.produced_bytes();
  record_.stderr_bytes = err_.produced_bytes();
  record_.stdout_truncated = out_.truncated();
  record_.stderr_truncated = err_.truncated();
  if (group_) group_->meter(record_);
  record_.ended = wall_now();
  return record_;
}

std::vector<pid_t> Task::processes() {
  if (group_) return group_->members();
  std::vector<pid_t> found;
  if (running_) found.push_back(pid_);
  for (pid_t child : children_of(::getpid())) {
    if (child != pid_ && claims_orphan(child)) found.push_back(child);
  }
  for (std::size_t i = 0, roots = found.size(); i < roots; ++i) {
    for (pid_t below : descendants_of(found[i])) found.push_back(below);
  }
  return found;
}

void Task::signal_all(int signal) {
  if (group_ && signal == SIGKILL) {
    group_->kill();
    return;
  }
  for (pid_t pid : processes()) ::kill(pid, signal);
}

}  // namespace abacus::shim
