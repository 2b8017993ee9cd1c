// The clone, the child before its exec, and the words for what went wrong.
#include "runtime/exec/shim/launch.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

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

// The child runs on memory it shares with its suspended parent: system calls only, no allocation, no locks.
#define ABACUS_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

ABACUS_IN_CHILD void become_task(Child& child) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != child.parent) ::_exit(127);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = child.command.open_files_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

ABACUS_IN_CHILD bool enter(Child& child) {
  const Command& command = child.command;
  child.stage = Stage::cgroup;
  for (std::size_t i = 0; i < command.cgroup_procs_fds.size(); ++i) {
    if (::write(command.cgroup_procs_fds[i], "0", 1) != 1) return false;
  }
  child.stage = Stage::cpus;
  if (!command.cpus.empty() && ::sched_setaffinity(0, sizeof child.cpus, &child.cpus) != 0) return false;
  child.stage = Stage::folder;
  if (::chdir(command.work_dir.c_str()) != 0) return false;
  child.stage = Stage::files;
  return ::dup2(command.stdin_fd, 0) == 0 && ::dup2(command.stdout_fd, 1) == 1 && ::dup2(command.stderr_fd, 2) == 2;
}

ABACUS_IN_CHILD int run_child(void* argument) {
  Child& child = *static_cast<Child*>(argument);
  become_task(child);
  if (enter(child)) {
    child.stage = Stage::exec;
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    int worst = ENOENT;
    for (std::size_t i = 0; i < child.candidates.size(); ++i) {
      ::execve(child.candidates[i].c_str(), child.argv.data(), child.env.data());
      if (errno == ENOENT || errno == ENOTDIR) continue;
      worst = errno;
      if (errno != EACCES) break;
    }
    errno = worst;
  }
  child.error = errno;
  ::_exit(127);
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
  pid_t pid = ::clone(run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
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
