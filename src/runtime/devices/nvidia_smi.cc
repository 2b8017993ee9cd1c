// Running nvidia-smi with a time limit, and reading its table.
#include "runtime/devices/nvidia_smi.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

namespace abacus {
namespace {

constexpr std::size_t kAnswerMaxBytes = 1u << 20;

std::string_view trim(std::string_view text) {
  std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// The program writes the PCI domain with eight digits in capitals, the kernel with four in small letters.
std::string kernel_bus_id(std::string_view bus_id) {
  std::size_t colon = bus_id.find(':');
  if (colon != std::string_view::npos && colon > 4) bus_id.remove_prefix(colon - 4);
  std::string id(bus_id);
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
  return id;
}

Result<pid_t> start(const std::string& program, int output) {
  const char* argv[] = {program.c_str(), "--query-gpu=index,pci.bus_id,name,memory.total",
                        "--format=csv,noheader,nounits", nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, const_cast<char**>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return fail(ErrorCode::unavailable, "'{}' cannot be started: {}", program, std::strerror(error));
}

/// Reads to the end of the pipe. False when the time is over first.
bool read_until(int fd, Duration limit, std::string& text) {
  auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(limit.ns);
  while (text.size() < kAnswerMaxBytes) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd wanted{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&wanted, 1, static_cast<int>(left)) == 0) return false;
    char block[4096];
    ssize_t n = ::read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(block, static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

std::vector<NvidiaGpu> parse_nvidia_smi(std::string_view text) {
  std::vector<NvidiaGpu> gpus;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::size_t first = line.find(',');
    std::size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
    std::size_t last = line.rfind(',');
    if (second == std::string_view::npos || last <= second) continue;
    NvidiaGpu gpu;
    std::uint64_t mebibytes = 0;
    if (!parse_number(trim(line.substr(0, first)), gpu.index)) continue;
    gpu.bus_id = kernel_bus_id(trim(line.substr(first + 1, second - first - 1)));
    gpu.name = trim(line.substr(second + 1, last - second - 1));
    // Some boards share the host's memory and answer "[N/A]".
    if (parse_number(trim(line.substr(last + 1)), mebibytes)) gpu.memory_bytes = mebibytes << 20;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Result<std::vector<NvidiaGpu>> query_nvidia_smi(const std::string& program, Duration limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::unavailable, "no pipe: {}", std::strerror(errno));
  auto pid = start(program, ends[1]);
  ::close(ends[1]);
  std::string text;
  bool ended = !pid || read_until(ends[0], limit, text);
  ::close(ends[0]);
  if (!pid) return fail(std::move(pid).error());
  if (!ended) ::kill(*pid, SIGKILL);
  int status = 0;
  ::waitpid(*pid, &status, 0);
  if (!ended) return fail(ErrorCode::timed_out, "'{}' gave no answer within {}", program, to_string(limit));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return parse_nvidia_smi(text);
  return fail(ErrorCode::unavailable, "'{}' failed{}", program,
              WIFEXITED(status) ? fmt::format(" with exit code {}", WEXITSTATUS(status)) : "");
}

}  // namespace abacus
