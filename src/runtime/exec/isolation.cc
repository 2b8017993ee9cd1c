// Finding cgroup hierarchies, and trying what they can do.
#include "runtime/exec/isolation.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

namespace abacus {
namespace {

constexpr std::string_view kAgentGroup = "/abacus-agent";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// "\040" and the like stand for blanks in mountinfo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

/// This process's group by controller name; version 2 under the empty name.
std::map<std::string, std::string, std::less<>> own_groups(std::string_view self_cgroup) {
  std::map<std::string, std::string, std::less<>> groups;
  for (std::string_view line : split(self_cgroup, '\n')) {
    std::size_t first = line.find(':');
    std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view names = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    if (names.empty()) groups[""] = path;
    for (std::string_view name : split(names, ',')) groups[std::string(name)] = path;
  }
  return groups;
}

struct Mount {
  int version = 0;
  std::string root;  ///< The group that the mount point shows.
  std::string point;
  std::vector<std::string_view> options;
};

/// Fields by proc(5): id, parent, device, root, mount point, options, optional fields, "-", type, source, super
/// options.
std::optional<Mount> parse_mount(std::string_view line) {
  std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  auto left = split(line.substr(0, dash), ' ');
  auto right = split(line.substr(dash + 3), ' ');
  if (left.size() < 5 || right.size() < 3) return std::nullopt;
  Mount mount{0, unescape(left[3]), unescape(left[4]), split(right[2], ',')};
  if (right[0] == "cgroup") mount.version = 1;
  if (right[0] == "cgroup2") mount.version = 2;
  if (mount.version == 0) return std::nullopt;
  return mount;
}

/// Where a group is seen through a mount that may show only a part of the hierarchy.
std::string seen_at(const Mount& mount, std::string group) {
  if (mount.root != "/" && group.starts_with(mount.root)) group = group.substr(mount.root.size());
  if (group == "/" || group.starts_with("/..")) group.clear();
  return mount.point + group;
}

std::optional<CgroupBranch> branch_of(const Mount& mount,
                                      const std::map<std::string, std::string, std::less<>>& groups) {
  CgroupBranch branch;
  branch.version = mount.version;
  const std::string* group = nullptr;
  for (std::string_view name : mount.options) {
    bool* flag = name == "cpu" ? &branch.cpu : name == "cpuacct" ? &branch.cpuacct : nullptr;
    if (name == "memory") flag = &branch.memory;
    if (name == "pids") flag = &branch.pids;
    auto own = groups.find(name);
    if (flag == nullptr || own == groups.end() || mount.version == 2) continue;
    *flag = true;
    group = &own->second;
  }
  if (mount.version == 2 && groups.contains("")) group = &groups.find("")->second;
  if (group == nullptr) return std::nullopt;
  branch.path = seen_at(mount, *group);
  return branch;
}

bool make_dir(const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

/// Gives the children of `path` one controller.
bool enable(const std::string& path, std::string_view name) {
  return write_small_file(path + "/cgroup.subtree_control", fmt::format("+{}", name));
}

/// Turns the own group of version 2 into one whose children have controllers, as far as the kernel lets us.
void divide(CgroupBranch& branch, std::string& reason) {
  if (branch.path.ends_with(kAgentGroup)) branch.path.resize(branch.path.size() - kAgentGroup.size());
  std::string offered = read_small_file(branch.path + "/cgroup.controllers").value_or("");
  auto has = [&](std::string_view name) {
    for (std::string_view other : split(std::string_view(offered).substr(0, offered.find('\n')), ' ')) {
      if (other == name) return true;
    }
    return false;
  };
  for (auto [name, flag] : {std::pair{"cpu", &branch.cpu}, {"memory", &branch.memory}, {"pids", &branch.pids}}) {
    if (!has(name)) continue;
    *flag = enable(branch.path, name);
    if (!*flag && errno == EBUSY && make_dir(branch.path + std::string(kAgentGroup)) &&
        write_small_file(branch.path + std::string(kAgentGroup) + "/cgroup.procs", "0")) {
      *flag = enable(branch.path, name);
    }
    if (!*flag)
      reason = fmt::format("the {} controller cannot be given on from {}: {}", name, branch.path, std::strerror(errno));
  }
}

/// Makes `branch.path`/abacus and sets every limit on a group in it; drops what does not work. False: nothing does.
bool claim(CgroupBranch& branch, std::string& reason) {
  if (branch.version == 2) divide(branch, reason);
  branch.path += "/abacus";
  std::string trial = fmt::format("{}/probe-{}", branch.path, ::getpid());
  bool made = make_dir(branch.path);
  if (made && branch.version == 2) {
    for (auto [name, flag] : {std::pair{"cpu", &branch.cpu}, {"memory", &branch.memory}, {"pids", &branch.pids}}) {
      if (*flag) *flag = enable(branch.path, name);
    }
  }
  if (!made || !make_dir(trial)) {
    reason = fmt::format("no group can be made in {}: {}", branch.path, std::strerror(errno));
    return false;
  }
  auto works = [&](bool& flag, const char* name, const char* text) {
    if (!flag || write_small_file(trial + "/" + name, text)) return;
    flag = false;
    reason = fmt::format("{}/{} cannot be set: {}", branch.path, name, std::strerror(errno));
  };
  bool v2 = branch.version == 2;
  works(branch.cpu, v2 ? "cpu.max" : "cpu.cfs_quota_us", v2 ? "50000 100000" : "50000");
  works(branch.memory, v2 ? "memory.max" : "memory.limit_in_bytes", "67108864");
  works(branch.pids, "pids.max", "16");
  ::rmdir(trial.c_str());
  // All leases together weigh as much as the machine, not as one process among the others.
  set_cpu_weight(branch, branch.path, std::uint64_t{std::thread::hardware_concurrency()} * 1000);
  return true;
}

Enforcement enforcement(const std::vector<CgroupBranch>& branches, bool CgroupBranch::*flag,
                        const std::string& reason) {
  for (const CgroupBranch& branch : branches) {
    if (branch.*flag) return {true, fmt::format("cgroup v{} in {}", branch.version, branch.path)};
  }
  return {false, reason.empty() ? "this host has no cgroup controller for it" : reason};
}

}  // namespace

std::string IsolationReport::to_string() const {
  auto one = [](const char* name, const Enforcement& limit) {
    return fmt::format("{}: {}{}", name, limit.enforced ? "" : "not enforced, ", limit.how);
  };
  return fmt::format("{}; {}; {}", one("cpu", cpu), one("memory", memory), one("pids", pids));
}

std::vector<CgroupBranch> find_branches(std::string_view mountinfo, std::string_view self_cgroup) {
  auto groups = own_groups(self_cgroup);
  std::vector<CgroupBranch> first, second;
  for (std::string_view line : split(mountinfo, '\n')) {
    auto mount = parse_mount(line);
    if (!mount) continue;
    auto branch = branch_of(*mount, groups);
    if (!branch) continue;
    auto& list = branch->version == 2 ? second : first;
    bool repeated = false;
    for (const CgroupBranch& known : list) {
      repeated = repeated || (known.cpu == branch->cpu && known.memory == branch->memory &&
                              known.pids == branch->pids && known.cpuacct == branch->cpuacct);
    }
    if (!repeated) list.push_back(*branch);
  }
  return first.empty() ? second : first;
}

IsolationReport probe_isolation() {
  IsolationReport report;
  std::string reason;
  auto found = find_branches(read_small_file("/proc/self/mountinfo").value_or(""),
                             read_small_file("/proc/self/cgroup").value_or(""));
  for (CgroupBranch& branch : found) {
    if (claim(branch, reason)) report.branches.push_back(branch);
  }
  report.cpu = enforcement(report.branches, &CgroupBranch::cpu, reason);
  report.memory = enforcement(report.branches, &CgroupBranch::memory, reason);
  report.pids = enforcement(report.branches, &CgroupBranch::pids, reason);
  return report;
}

}  // namespace abacus
