// Spawning shims and helpers, and ending what remains.
#include "runtime/exec/shim_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace abacus {
namespace {

constexpr int kShimListenFd = 3;

/// posix_spawn with default signals, an empty mask and a new session. `listen_fd` -1: none.
Result<pid_t> spawn(std::vector<std::string> argv, const std::string& log, int listen_fd) {
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  char* environment[] = {nullptr};

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (listen_fd >= 0) posix_spawn_file_actions_adddup2(&actions, listen_fd, kShimListenFd);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  int error = ::posix_spawn(&pid, argv[0].c_str(), &actions, &attributes, pointers.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return fail(ErrorCode::unavailable, "'{}' cannot be started: {}", argv[0], std::strerror(error));
}

bool carries_mark(pid_t pid, std::string_view mark) {
  auto environment = read_small_file(fmt::format("/proc/{}/environ", pid));
  return environment &&
         (environment->starts_with(mark) || environment->find('\0' + std::string(mark)) != std::string::npos);
}

std::size_t kill_marked(const LeaseId& lease) {
  std::string mark = fmt::format("ABACUS_SHIM_TASK={}/", lease.to_string());
  std::size_t count = 0;
  DIR* dir = ::opendir("/proc");
  if (dir == nullptr) return 0;
  while (dirent* entry = ::readdir(dir)) {
    pid_t pid = std::atoi(entry->d_name);
    if (pid <= 1 || !carries_mark(pid, mark)) continue;
    ::kill(pid, SIGKILL);
    ++count;
  }
  ::closedir(dir);
  return count;
}

std::string lease_group(const CgroupBranch& branch, const LeaseId& lease) {
  return branch.path + "/" + lease.to_string();
}

}  // namespace

Result<pid_t> start_shim(const std::string& program, const LeaseSpec& spec, const std::string& directory,
                         Duration orphan_limit, const std::vector<CgroupBranch>& branches, int listen_fd) {
  std::vector<std::string> argv = {program,
                                   "--lease=" + spec.lease.to_string(),
                                   "--directory=" + directory,
                                   fmt::format("--deadline-ns={}", spec.deadline.ns),
                                   fmt::format("--orphan-limit-ns={}", orphan_limit.ns),
                                   fmt::format("--slots={}", spec.slots)};
  for (const CgroupBranch& branch : branches) argv.push_back("--cgroup=" + branch.to_string());
  return spawn(std::move(argv), directory + "/shim.log", listen_fd);
}

void reap_when_ended(const boost::asio::any_io_executor& executor, pid_t pid, std::function<void()> then) {
  int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) {
    ::waitpid(pid, nullptr, WNOHANG);
    if (then) boost::asio::post(executor, std::move(then));
    return;
  }
  auto watched = std::make_shared<boost::asio::posix::stream_descriptor>(executor, fd);
  watched->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [watched, pid, then = std::move(then)](boost::system::error_code error) {
                        if (error) return;
                        ::waitpid(pid, nullptr, WNOHANG);
                        if (then) then();
                      });
}

void delete_in_background(const boost::asio::any_io_executor& executor, const std::string& path,
                          std::function<void()> then) {
  auto pid = spawn({"/bin/rm", "-rf", "--", path}, "/dev/null", -1);
  if (pid) return reap_when_ended(executor, *pid, std::move(then));
  boost::asio::post(executor, std::move(then));
}

bool write_shim_note(const std::string& directory, const ShimNote& note) {
  std::string text = fmt::format("pid={}\n", note.pid);
  for (const CgroupBranch& branch : note.branches) text += fmt::format("cgroup={}\n", branch.to_string());
  int fd = ::open((directory + "/shim").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return done;
}

ShimNote read_shim_note(const std::string& directory) {
  ShimNote note;
  std::string text = read_small_file(directory + "/shim").value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("pid=")) note.pid = std::atoi(std::string(line.substr(4)).c_str());
    if (!line.starts_with("cgroup=")) continue;
    if (auto branch = CgroupBranch::parse(line.substr(7))) note.branches.push_back(*branch);
  }
  return note;
}

void kill_shim(pid_t pid, const LeaseId& lease) {
  auto command = read_small_file(fmt::format("/proc/{}/cmdline", pid));
  if (pid > 1 && command && command->find("--lease=" + lease.to_string()) != std::string::npos) ::kill(pid, SIGKILL);
}

std::size_t kill_lease_processes(const std::vector<CgroupBranch>& branches, const LeaseId& lease) {
  if (branches.empty()) return kill_marked(lease);
  const CgroupBranch& branch = tracking_branch(branches);
  return kill_cgroup_tree(branch, lease_group(branch, lease));
}

void remove_lease_cgroups(const std::vector<CgroupBranch>& branches, const LeaseId& lease) {
  for (const CgroupBranch& branch : branches) remove_cgroup_tree(lease_group(branch, lease));
}

}  // namespace abacus
