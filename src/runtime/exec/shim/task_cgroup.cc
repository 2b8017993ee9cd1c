// Setting limits and reading meters in cgroup version 1 and 2.
#include "runtime/exec/shim/task_cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace abacus::shim {
namespace {

constexpr std::uint64_t kCpuPeriodUs = 100'000;
constexpr std::uint64_t kCpuQuotaMinUs = 1'000;       ///< The kernel refuses less.
constexpr std::uint64_t kStaleCacheBytes = 4u << 20;  ///< A former task's page cache that would blur the peak.

bool make_dir(const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

std::string failed(const std::string& path) { return "'" + path + "': " + std::strerror(errno); }

/// The number after `key` in a "key value" table, or the text's own number for an empty key.
std::uint64_t number_in(const std::string& text, std::string_view key) {
  std::size_t at = 0;
  if (!key.empty()) {
    std::string wanted = std::string(key) + " ";
    at = text.find(wanted);
    while (at != std::string::npos && at != 0 && text[at - 1] != '\n') at = text.find(wanted, at + 1);
    if (at == std::string::npos) return 0;
    at += wanted.size();
  }
  return std::strtoull(text.c_str() + at, nullptr, 10);
}

}  // namespace

TaskCgroup::TaskCgroup(const std::vector<CgroupBranch>& branches, std::string name) : branches_(branches) {
  for (CgroupBranch& branch : branches_) branch.path += "/" + name;
}

TaskCgroup::~TaskCgroup() {
  for (int fd : procs_fds_) ::close(fd);
}

std::string TaskCgroup::open() {
  for (const CgroupBranch& branch : branches_) {
    if (!make_dir(branch.path)) return failed(branch.path);
    int fd = ::open(file(branch, "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failed(file(branch, "cgroup.procs"));
    procs_fds_.push_back(fd);
  }
  opened_ = true;
  return {};
}

std::string TaskCgroup::prepare(const CgroupLimits& limits) {
  if (!opened_) {
    if (std::string error = open(); !error.empty()) return error;
  }
  for (const CgroupBranch& branch : branches_) {
    std::string error;
    if (branch.cpu && limits.cpu_milli != set_.cpu_milli) error = set_cpu(branch, limits.cpu_milli);
    if (error.empty() && branch.memory && limits.memory_bytes != set_.memory_bytes) {
      error = set_memory(branch, limits.memory_bytes);
    }
    if (error.empty() && branch.pids && (pids_stopped_ || limits.pids_max != set_.pids_max)) {
      error = set_pids(branch, limits.pids_max);
    }
    if (!error.empty()) return error;
  }
  set_ = limits;
  pids_stopped_ = false;
  reset_peak();
  user_before_ = cpu_used(true);
  system_before_ = cpu_used(false);
  oom_before_ = oom_kills();
  return {};
}

std::string TaskCgroup::set_cpu(const CgroupBranch& branch, std::uint32_t milli) {
  std::string quota = std::to_string(std::max(milli * kCpuPeriodUs / 1000, kCpuQuotaMinUs));
  if (milli == 0) quota = branch.version == 2 ? "max" : "-1";
  std::string name = file(branch, branch.version == 2 ? "cpu.max" : "cpu.cfs_quota_us");
  set_cpu_weight(branch, branch.path, milli == 0 ? 1000 : milli);
  if (branch.version == 2) quota += " " + std::to_string(kCpuPeriodUs);
  if (branch.version == 1 && !write_small_file(file(branch, "cpu.cfs_period_us"), std::to_string(kCpuPeriodUs))) {
    return failed(name);
  }
  return write_small_file(name, quota) ? std::string() : failed(name);
}

std::string TaskCgroup::set_memory(const CgroupBranch& branch, std::uint64_t bytes) {
  std::string limit = bytes == 0 ? (branch.version == 2 ? "max" : "-1") : std::to_string(bytes);
  if (branch.version == 2) {
    write_small_file(file(branch, "memory.swap.max"), bytes == 0 ? "max" : "0");  // Absent without swap accounting.
    return write_small_file(file(branch, "memory.max"), limit) ? std::string() : failed(file(branch, "memory.max"));
  }
  // Memory plus swap may never be below memory alone, so it is lifted first and set last. Absent without swap
  // accounting.
  std::string with_swap = file(branch, "memory.memsw.limit_in_bytes");
  write_small_file(with_swap, "-1");
  std::string name = file(branch, "memory.limit_in_bytes");
  if (!write_small_file(name, limit)) return failed(name);
  if (bytes != 0) write_small_file(with_swap, limit);
  return {};
}

std::string TaskCgroup::set_pids(const CgroupBranch& branch, std::uint32_t count) {
  std::string name = file(branch, "pids.max");
  return write_small_file(name, count == 0 ? "max" : std::to_string(count)) ? std::string() : failed(name);
}

std::vector<pid_t> TaskCgroup::members() const {
  const CgroupBranch& branch = tracking_branch(branches_);
  return parse_pids(read_small_file(file(branch, "cgroup.procs")).value_or(""));
}

std::size_t TaskCgroup::kill() {
  const CgroupBranch& branch = tracking_branch(branches_);
  pids_stopped_ = true;
  return kill_cgroup_tree(branch, branch.path);
}

std::uint64_t TaskCgroup::number(const CgroupBranch& branch, const char* name, const char* key) const {
  return number_in(read_small_file(file(branch, name)).value_or(""), key);
}

Duration TaskCgroup::cpu_used(bool user) const {
  for (const CgroupBranch& branch : branches_) {
    std::uint64_t ns = 0;
    if (branch.version == 2 && branch.cpu) ns = 1000 * number(branch, "cpu.stat", user ? "user_usec" : "system_usec");
    if (branch.cpuacct) ns = number(branch, user ? "cpuacct.usage_user" : "cpuacct.usage_sys");
    if (ns != 0) return nanoseconds(static_cast<std::int64_t>(ns));
  }
  return {};
}

std::uint64_t TaskCgroup::oom_kills() const {
  for (const CgroupBranch& branch : branches_) {
    if (!branch.memory) continue;
    return number(branch, branch.version == 2 ? "memory.events" : "memory.oom_control", "oom_kill");
  }
  return 0;
}

void TaskCgroup::reset_peak() {
  for (const CgroupBranch& branch : branches_) {
    if (!branch.memory || branch.version != 1) continue;
    if (number(branch, "memory.usage_in_bytes") > kStaleCacheBytes) {
      write_small_file(file(branch, "memory.force_empty"), "0");
    }
    write_small_file(file(branch, "memory.max_usage_in_bytes"), "0");
  }
}

void TaskCgroup::meter(ExitRecord& record) const {
  record.cpu_user = std::max(record.cpu_user, cpu_used(true) - user_before_);
  record.cpu_system = std::max(record.cpu_system, cpu_used(false) - system_before_);
  record.oom_killed = oom_kills() > oom_before_;
  for (const CgroupBranch& branch : branches_) {
    // Version 2 cannot reset its peak for the next task, so there the largest process's peak stands.
    if (branch.memory && branch.version == 1) record.peak_memory_bytes = number(branch, "memory.max_usage_in_bytes");
  }
}

TaskCgroups::TaskCgroups(std::vector<CgroupBranch> branches, const std::string& lease_name, std::uint32_t slots)
    : branches_(std::move(branches)) {
  for (CgroupBranch& branch : branches_) {
    branch.path += "/" + lease_name;
    if (!make_dir(branch.path) || !make_dir(branch.path + "/shim") ||
        !write_small_file(branch.path + "/shim/cgroup.procs", "0")) {
      remove_cgroup_tree(branch.path);
      branch.path.clear();
      continue;
    }
    set_cpu_weight(branch, branch.path, std::uint64_t{slots} * 1000);
    set_cpu_weight(branch, branch.path + "/shim", std::uint64_t{slots} * 1000);
    std::string enable =
        std::string(branch.cpu ? "+cpu " : "") + (branch.memory ? "+memory " : "") + (branch.pids ? "+pids" : "");
    if (branch.version == 2 && !enable.empty()) write_small_file(branch.path + "/cgroup.subtree_control", enable);
  }
  std::erase_if(branches_, [](const CgroupBranch& branch) { return branch.path.empty(); });
}

std::unique_ptr<TaskCgroup> TaskCgroups::acquire(const CgroupLimits& limits, std::string& error) {
  std::unique_ptr<TaskCgroup> group;
  if (free_.empty()) {
    group = std::make_unique<TaskCgroup>(branches_, "task-" + std::to_string(made_++));
  } else {
    group = std::move(free_.back());
    free_.pop_back();
  }
  error = group->prepare(limits);
  if (error.empty()) return group;
  error = "the task's limits cannot be set: " + error;
  return nullptr;
}

void TaskCgroups::release(std::unique_ptr<TaskCgroup> group) { free_.push_back(std::move(group)); }

void TaskCgroups::remove_all() {
  free_.clear();
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    std::size_t slash = branches_[i].path.rfind('/');
    // Version 2 refuses processes beside groups with controllers; then the agent removes the groups once we are gone.
    write_small_file(branches_[i].path.substr(0, slash) + "/cgroup.procs", "0");
    remove_cgroup_tree(branches_[i].path);
  }
}

}  // namespace abacus::shim
