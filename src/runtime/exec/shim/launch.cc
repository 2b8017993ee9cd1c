// The clone, the child before its exec, and the words for what went wrong.
#include "runtime/exec/shim/launch.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer takes clone for fork and changes, in the child, the state that a child like ours shares with its
// parent: from then on it sees none of the parent's locks. The C library's other name for it is not replaced.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
#define ABACUS_CLONE __clone
#else
#define ABACUS_CLONE ::clone
#endif

namespace abacus::shim {
namespace {

constexpr std::size_t kChildStackBytes = 64 * 1024;
constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

enum class Stage { none, cgroup, cpus, folder, files, exec };

/// Lives in the parent's frame; the child, sharing memory, writes stage and error, then the parent reads them.
struct Child {
  const Command& command;
  std::vector<std::string> candidates;
  std::vector<char*> argv;
  std::vector<char*> env;
  cpu_set_t cpus;
  pid_t parent;
  Stage stage = Stage::none;
  int error = 0;
};

// The child runs on memory it shares with its suspended parent, and with the parent's other threads, which go on: bare
// system calls only, no allocation, no locks, and none of the library's functions, which a sanitizer may have replaced
// by its own, with state that the parent would inherit half-changed.
#define ABACUS_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

ABACUS_IN_CHILD void become_task(Child& child) {
  ::syscall(SYS_setsid);
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::syscall(SYS_getppid) != child.parent) ::syscall(SYS_exit_group, 127);
  rlimit files{};
  if (::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &files) == 0) {
    files.rlim_cur = child.command.open_files_max;
    ::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &files, nullptr);
  }
}

/// As dup2: the same number twice is fine.
ABACUS_IN_CHILD bool becomes(int fd, int number) {
  return fd == number || ::syscall(SYS_dup3, fd, number, 0) == number;
}

ABACUS_IN_CHILD bool enter(Child& child) {
  const Command& command = child.command;
  child.stage = Stage::cgroup;
  for (std::size_t i = 0; i < command.cgroup_procs_fds.size(); ++i) {
    if (::syscall(SYS_write, command.cgroup_procs_fds[i], "0", 1) != 1) return false;
  }
  child.stage = Stage::cpus;
  bool pinned = !command.cpus.empty();
  if (pinned && ::syscall(SYS_sched_setaffinity, 0, sizeof child.cpus, &child.cpus) != 0) return false;
  child.stage = Stage::folder;
  if (::syscall(SYS_chdir, command.work_dir.c_str()) != 0) return false;
  child.stage = Stage::files;
  return becomes(command.stdin_fd, 0) && becomes(command.stdout_fd, 1) && becomes(command.stderr_fd, 2);
}

ABACUS_IN_CHILD int run_child(void* argument) {
  Child& child = *static_cast<Child*>(argument);
  become_task(child);
  if (enter(child)) {
    child.stage = Stage::exec;
    std::uint64_t none = 0;  // The kernel's set of signals, shorter than the library's.
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
    int worst = ENOENT;
    for (std::size_t i = 0; i < child.candidates.size(); ++i) {
      ::syscall(SYS_execve, child.candidates[i].c_str(), child.argv.data(), child.env.data());
      if (errno == ENOENT || errno == ENOTDIR) continue;
      worst = errno;
      if (errno != EACCES) break;
    }
    errno = worst;
  }
  child.error = errno;
  ::syscall(SYS_exit_group, 127);
  return 127;
}

std::string_view path_of(const std::vector<std::string>& env) {
  for (const std::string& entry : env) {
    if (entry.starts_with("PATH=")) return std::string_view(entry).substr(5);
  }
  return kDefaultPath;
}

std::vector<std::string> candidates_of(const Command& command) {
  const std::string& name = command.argv[0];
  if (name.empty() || name.find('/') != std::string::npos) return {name};
  std::vector<std::string> found;
  std::string_view path = path_of(command.env);
  while (!path.empty()) {
    std::size_t colon = std::min(path.find(':'), path.size());
    if (colon > 0) found.push_back(std::string(path.substr(0, colon)) + "/" + name);
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return found;
}

/// The first candidate that exists as a file, seen from the task's folder.
const std::string* existing(const Child& child) {
  for (const std::string& candidate : child.candidates) {
    std::string seen = candidate.starts_with("/") ? candidate : child.command.work_dir + "/" + candidate;
    struct stat info {};
    if (::stat(seen.c_str(), &info) == 0) return &candidate;
  }
  return nullptr;
}

std::string explain_exec(const Child& child) {
  const std::string& name = child.command.argv[0];
  const std::string* file = existing(child);
  if (file == nullptr) {
    if (name.find('/') != std::string::npos) return "command '" + name + "' does not exist";
    return "command '" + name + "' not found in PATH (" + std::string(path_of(child.command.env)) + ")";
  }
  switch (child.error) {
    case ENOENT: return "the interpreter or loader that '" + *file + "' names does not exist";
    case EACCES: return "'" + *file + "' may not be executed: permission denied";
    case ENOEXEC: return "'" + *file + "' is neither a program for this machine nor a script starting with #!";
    case E2BIG: return "the arguments and environment of '" + name + "' are longer than the system allows";
    default: return "'" + *file + "' cannot be executed: " + std::strerror(child.error);
  }
}

std::string explain(const Child& child) {
  std::string reason = std::strerror(child.error);
  switch (child.stage) {
    case Stage::cgroup: return "the task could not join its cgroup: " + reason;
    case Stage::cpus: return "the task could not be bound to its CPUs: " + reason;
    case Stage::folder: return "working directory '" + child.command.work_dir + "' cannot be entered: " + reason;
    case Stage::files: return "the task's output could not be connected: " + reason;
    case Stage::exec: return explain_exec(child);
    default: return "the task could not be started: " + reason;
  }
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

pid_t launch(const Command& command, std::string& error) {
  alignas(16) char stack[kChildStackBytes];  // This frame outlives the child's use: the clone returns at its exec.
  Child child{command, candidates_of(command), pointers(command.argv), pointers(command.env), {}, ::getpid()};
  CPU_ZERO(&child.cpus);
  for (std::uint32_t cpu : command.cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &child.cpus);
  }
  pid_t pid = ABACUS_CLONE(run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
  if (pid < 0) {
    error = std::string("the system refuses a new process: ") + std::strerror(errno);
    return -1;
  }
  if (child.error == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  error = explain(child);
  return -1;
}

}  // namespace abacus::shim
