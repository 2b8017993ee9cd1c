// Spawning, and ending by way of pidfd and /proc.
#include "cli/dev_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace abacus {
namespace {

constexpr int kStateField = 0, kParentField = 1,
              kStartField = 19;  // counted from the state, which follows the name in parentheses
constexpr Duration kKillTime = seconds(10);

class OwnFd {
 public:
  explicit OwnFd(int fd) : fd_(fd) {}
  OwnFd(OwnFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnFd& operator=(OwnFd&&) = delete;
  ~OwnFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Stat {
  char state = '?';
  std::uint32_t parent = 0;
  std::uint64_t start_ticks = 0;
};

std::optional<Stat> stat_of(std::uint32_t pid) {
  std::string text = read_all(fmt::format("/proc/{}/stat", pid));
  std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  Stat stat;
  std::string field;
  for (int i = 0; fields >> field && i <= kStartField; ++i) {
    if (i == kStateField) stat.state = field[0];
    if (i == kParentField) stat.parent = static_cast<std::uint32_t>(std::strtoul(field.c_str(), nullptr, 10));
    if (i == kStartField) stat.start_ticks = std::strtoull(field.c_str(), nullptr, 10);
  }
  return stat;
}

/// A child of ours that ended is a zombie until it is asked for; for others this does nothing.
void reap(std::uint32_t pid) { waitpid(static_cast<pid_t>(pid), nullptr, WNOHANG); }

/// Waits for the end of a process; true once it has ended.
bool ends_within(int pidfd, Duration time) {
  pollfd waiting = {pidfd, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(time.ms())) > 0;
}

int send_signal(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

std::vector<std::uint32_t> all_pids() {
  std::vector<std::uint32_t> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    auto pid = static_cast<std::uint32_t>(std::strtoul(entry.path().filename().c_str(), nullptr, 10));
    if (pid != 0) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

/// Kills the children of a process, their children first.
void kill_below(std::uint32_t parent) {
  for (std::uint32_t pid : all_pids()) {
    OwnFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    auto stat = stat_of(pid);
    if (pidfd.get() < 0 || !stat || stat->parent != parent) continue;
    kill_below(pid);
    send_signal(pidfd.get(), SIGKILL);
  }
}

/// One process on its way out.
class Ending {
 public:
  /// The descriptor is held before the start time is looked at: from here on the pid cannot become another process.
  explicit Ending(const ProcessKey& process)
      : pid_(process.pid),
        pidfd_(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0))),
        runs_(pidfd_.get() >= 0 && is_running(process)) {}

  Status tell() {
    if (!runs_ || send_signal(pidfd_.get(), SIGTERM) == 0 || errno == ESRCH) return {};
    return fail(ErrorCode::denied, "ending process {}: {}", pid_, std::strerror(errno));
  }

  Status finish(Duration grace) {
    if (!runs_) return {};
    if (!ends_within(pidfd_.get(), grace)) {
      kill_below(pid_);
      send_signal(pidfd_.get(), SIGKILL);
      if (!ends_within(pidfd_.get(), kKillTime)) return fail(ErrorCode::timed_out, "process {} does not end", pid_);
    }
    reap(pid_);
    return {};
  }

 private:
  std::uint32_t pid_;
  OwnFd pidfd_;
  bool runs_;
};

/// What posix_spawn needs to be told, freed at the end.
struct SpawnPlan {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  explicit SpawnPlan(const std::string& log) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

Result<ProcessKey> start_detached(const std::string& program, const std::vector<std::string>& arguments,
                                  const std::string& log) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  SpawnPlan plan(log);
  pid_t pid = 0;
  if (int error = posix_spawn(&pid, program.c_str(), &plan.files, &plan.attributes, argv.data(), environ); error != 0) {
    return fail(error == EACCES ? ErrorCode::denied : ErrorCode::unavailable, "starting {} (log {}): {}", program, log,
                std::strerror(error));
  }
  auto stat = stat_of(static_cast<std::uint32_t>(pid));  // there at least as a zombie, being our child
  return ProcessKey{static_cast<std::uint32_t>(pid), stat ? stat->start_ticks : 0};
}

bool is_running(const ProcessKey& process) {
  if (process.pid == 0) return false;
  reap(process.pid);
  auto stat = stat_of(process.pid);
  return stat && stat->start_ticks == process.start_ticks && stat->state != 'Z' && stat->state != 'X';
}

Status end_process(const ProcessKey& process, Duration grace) { return end_processes({process}, grace); }

Status end_processes(const std::vector<ProcessKey>& processes, Duration grace) {
  Status result;
  std::vector<Ending> endings;
  for (const ProcessKey& process : processes) {
    Ending& ending = endings.emplace_back(process);
    if (Status told = ending.tell(); !told && result) result = fail(told.error());
  }
  auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(grace.ns);
  for (Ending& ending : endings) {
    auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now());
    if (Status ended = ending.finish({std::max<std::int64_t>(left.count(), 0)}); !ended && result) {
      result = fail(ended.error());
    }
  }
  return result;
}

std::vector<ProcessKey> shims_of(const std::string& data_dir) {
  std::vector<ProcessKey> found;
  for (std::uint32_t pid : all_pids()) {
    auto stat = stat_of(pid);  // before the arguments: a pid reused in between then has another start time
    std::string arguments = read_all(fmt::format("/proc/{}/cmdline", pid));
    std::string program = arguments.substr(0, arguments.find('\0'));
    bool is_shim = program.substr(program.rfind('/') + 1) == "abacus-shim";
    bool is_ours = arguments.find(std::string(1, '\0') + "--directory=" + data_dir + "/") != std::string::npos;
    if (stat && is_shim && is_ours) found.push_back({pid, stat->start_ticks});
  }
  return found;
}

Result<std::vector<std::uint16_t>> free_ports(std::size_t count) {
  std::vector<OwnFd> held;  // all at once, so that none comes twice
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    held.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (bind(held.back().get(), any, size) != 0 || getsockname(held.back().get(), any, &size) != 0) {
      return fail(ErrorCode::exhausted, "no free port on 127.0.0.1: {}", std::strerror(errno));
    }
    ports.push_back(ntohs(address.sin_port));
  }
  return ports;
}

Result<std::string> own_program() {
  std::error_code error;
  std::string path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::internal, "finding this program: {}", error.message());
  return path;
}

std::string tail_of(const std::string& path, std::size_t lines) {
  std::ifstream file(path);
  std::deque<std::string> last;
  for (std::string line; std::getline(file, line);) {
    last.push_back(line);
    if (last.size() > lines) last.pop_front();
  }
  std::string text;
  for (const std::string& line : last) text += "  " + line + "\n";
  return text;
}

}  // namespace abacus
