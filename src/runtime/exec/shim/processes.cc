// Walking /proc.
#include "runtime/exec/shim/processes.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/exec/cgroup_files.h"

namespace abacus::shim {
namespace {

constexpr std::size_t kDescendantsMax = 100'000;  ///< A bound for loops over a tree that grows while we look.

std::vector<pid_t> numeric_entries(const std::string& path) {
  std::vector<pid_t> numbers;
  DIR* dir = ::opendir(path.c_str());
  if (dir == nullptr) return numbers;
  while (dirent* entry = ::readdir(dir)) {
    if (pid_t number = std::atoi(entry->d_name); number > 0) numbers.push_back(number);
  }
  ::closedir(dir);
  return numbers;
}

/// The parent in /proc/PID/stat: the second field after the name, which is in parentheses and may hold anything.
pid_t parent_of(pid_t pid) {
  std::string stat = read_small_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  std::size_t close = stat.rfind(')');
  return close == std::string::npos || close + 4 >= stat.size() ? 0 : std::atoi(stat.c_str() + close + 4);
}

/// For kernels without the per-thread list of children.
std::vector<pid_t> children_by_scan(pid_t pid) {
  std::vector<pid_t> children;
  for (pid_t other : numeric_entries("/proc")) {
    if (parent_of(other) == pid) children.push_back(other);
  }
  return children;
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  // This program has one thread; listing threads is for others.
  std::vector<pid_t> threads = pid == ::getpid() ? std::vector<pid_t>{pid} : numeric_entries(tasks);
  std::vector<pid_t> children;
  for (pid_t thread : threads) {
    auto text = read_small_file(tasks + "/" + std::to_string(thread) + "/children");
    if (!text && thread == pid && ::kill(pid, 0) == 0) return children_by_scan(pid);
    for (pid_t child : parse_pids(text.value_or(""))) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> descendants_of(pid_t pid) {
  std::vector<pid_t> found = children_of(pid);
  for (std::size_t i = 0; i < found.size() && found.size() < kDescendantsMax; ++i) {
    for (pid_t below : children_of(found[i])) found.push_back(below);
  }
  return found;
}

bool has_environment_entry(pid_t pid, std::string_view entry) {
  std::string environment = read_small_file("/proc/" + std::to_string(pid) + "/environ").value_or("");
  std::string_view rest = environment;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find('\0'), rest.size());
    if (rest.substr(0, end) == entry) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace abacus::shim
