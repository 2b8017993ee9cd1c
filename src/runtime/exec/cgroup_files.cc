// Reading, killing and removing cgroups through their files.
#include "runtime/exec/cgroup_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace abacus {
namespace {

std::vector<std::string> subgroups(const std::string& path) {
  std::vector<std::string> names;
  DIR* dir = ::opendir(path.c_str());
  if (dir == nullptr) return names;
  while (dirent* entry = ::readdir(dir)) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.emplace_back(path + "/" + entry->d_name);
  }
  ::closedir(dir);
  return names;
}

bool set_controller(CgroupBranch& branch, std::string_view name) {
  if (name == "cpu") return branch.cpu = true;
  if (name == "cpuacct") return branch.cpuacct = true;
  if (name == "memory") return branch.memory = true;
  if (name == "pids") return branch.pids = true;
  return name.empty();
}

}  // namespace

std::string CgroupBranch::to_string() const {
  std::string names;
  auto add = [&](bool on, const char* name) {
    if (on) names += (names.empty() ? "" : ",") + std::string(name);
  };
  add(cpu, "cpu"), add(cpuacct, "cpuacct"), add(memory, "memory"), add(pids, "pids");
  return "v" + std::to_string(version) + ":" + names + ":" + path;
}

std::optional<CgroupBranch> CgroupBranch::parse(std::string_view text) {
  CgroupBranch branch;
  if (!text.starts_with("v1:") && !text.starts_with("v2:")) return std::nullopt;
  branch.version = text[1] - '0';
  text.remove_prefix(3);
  std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !text.substr(colon + 1).starts_with("/")) return std::nullopt;
  branch.path = text.substr(colon + 1);
  for (std::string_view names = text.substr(0, colon); !names.empty();) {
    std::size_t comma = std::min(names.find(','), names.size());
    if (!set_controller(branch, names.substr(0, comma))) return std::nullopt;
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return branch;
}

const CgroupBranch& tracking_branch(const std::vector<CgroupBranch>& branches) {
  for (const CgroupBranch& branch : branches) {
    if (branch.version == 2) return branch;
  }
  for (const CgroupBranch& branch : branches) {
    if (branch.pids) return branch;
  }
  return branches.front();
}

std::optional<std::string> read_small_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char block[4096];
  ssize_t n = 0;
  while ((n = ::read(fd, block, sizeof block)) > 0) text.append(block, static_cast<std::size_t>(n));
  ::close(fd);
  if (n < 0) return std::nullopt;
  return text;
}

bool write_small_file(const std::string& path, std::string_view text) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  int error = errno;
  ::close(fd);
  errno = error;
  return done;
}

void set_cpu_weight(const CgroupBranch& branch, const std::string& path, std::uint64_t cpu_milli) {
  if (!branch.cpu) return;
  bool v2 = branch.version == 2;
  std::uint64_t weight = v2 ? cpu_milli / 10 : cpu_milli * 1024 / 1000;
  weight = std::clamp<std::uint64_t>(weight, v2 ? 1 : 2, v2 ? 10'000 : 262'144);  // The kernel's bounds.
  write_small_file(path + (v2 ? "/cpu.weight" : "/cpu.shares"), std::to_string(weight));
}

std::vector<pid_t> parse_pids(std::string_view text) {
  std::vector<pid_t> pids;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    auto [next, error] = std::from_chars(at, end, pid);
    // 0 stands for a process outside our pid namespace; killing "0" would be killing ourselves.
    if (error == std::errc{} && pid > 1) pids.push_back(pid);
    at = next == at ? at + 1 : next;
  }
  return pids;
}

std::size_t kill_cgroup_tree(const CgroupBranch& branch, const std::string& path) {
  if (branch.version == 2) write_small_file(path + "/cgroup.kill", "1");
  if (branch.version == 1 && branch.pids) write_small_file(path + "/pids.max", "0");
  std::vector<pid_t> alive = parse_pids(read_small_file(path + "/cgroup.procs").value_or(""));
  for (pid_t pid : alive) ::kill(pid, SIGKILL);
  std::size_t count = alive.size();
  for (const std::string& below : subgroups(path)) count += kill_cgroup_tree(branch, below);
  return count;
}

bool remove_cgroup_tree(const std::string& path) {
  for (const std::string& below : subgroups(path)) remove_cgroup_tree(below);
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace abacus
