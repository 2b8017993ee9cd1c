// CPU and memory as /proc and the cgroups tell them.
#include "runtime/devices/probe.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "runtime/devices/device_probe.h"
#include "runtime/exec/isolation.h"

namespace abacus {
namespace {

/// The rest of the line that starts with `key`.
std::string_view line_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) return line.substr(key.size());
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

/// How many numbers a list such as "0-3,8" names.
std::uint32_t count_of_list(std::string_view list) {
  list = list.substr(std::min(list.find_first_not_of(" \t"), list.size()));
  std::uint32_t count = 0;
  while (!list.empty()) {
    std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    auto first = leading_number(range);
    std::size_t dash = range.find('-');
    auto last = dash == std::string_view::npos ? first : leading_number(range.substr(dash + 1));
    if (first && last && *last >= *first) count += static_cast<std::uint32_t>(*last - *first + 1);
  }
  return count;
}

/// Milli-CPUs that one cgroup directory allows; none without a quota.
std::optional<std::uint64_t> quota_milli(const CgroupBranch& branch, const std::string& path) {
  std::string text = read_small_file(path + (branch.version == 2 ? "/cpu.max" : "/cpu.cfs_quota_us")).value_or("");
  auto quota = leading_number(text);  // "max" and "-1" are no quota.
  std::size_t blank = text.find(' ');
  auto period = branch.version == 2
                    ? leading_number(blank == std::string::npos ? "" : std::string_view(text).substr(blank))
                    : leading_number(read_small_file(path + "/cpu.cfs_period_us").value_or(""));
  if (!quota || !period || *period == 0) return std::nullopt;
  return *quota * 1000 / *period;
}

std::optional<std::uint64_t> memory_limit(const CgroupBranch& branch, const std::string& path) {
  return leading_number(
      read_small_file(path + (branch.version == 2 ? "/memory.max" : "/memory.limit_in_bytes")).value_or(""));
}

/// The tightest of what the own group and all above it allow, no more than `most`.
template <class F>
std::uint64_t tightest(const CgroupBranch& branch, std::uint64_t most, F limit_of) {
  for (std::string path = branch.path; path.size() > 1; path.resize(path.rfind('/'))) {
    if (auto limit = limit_of(branch, path)) most = std::min(most, *limit);
    if (path.rfind('/') == std::string::npos) break;
  }
  return most;
}

std::uint64_t free_bytes(const std::string& directory) {
  struct statvfs info {};
  return ::statvfs(directory.c_str(), &info) == 0 ? std::uint64_t{info.f_bavail} * info.f_frsize : 0;
}

}  // namespace

HostInventory probe_host(const ProbeOptions& options) {
  auto file = [&](const char* path) { return read_small_file(options.root + path).value_or(""); };
  HostInventory inventory;
  std::uint64_t cpu = std::uint64_t{count_of_list(line_after(file("/proc/self/status"), "Cpus_allowed_list:"))} * 1000;
  std::uint64_t memory = leading_number(line_after(file("/proc/meminfo"), "MemTotal:")).value_or(0) * 1024;
  for (CgroupBranch branch : find_branches(file("/proc/self/mountinfo"), file("/proc/self/cgroup"))) {
    branch.path = options.root + branch.path;
    if (branch.cpu || branch.version == 2) cpu = tightest(branch, cpu, quota_milli);
    if (branch.memory || branch.version == 2) memory = tightest(branch, memory, memory_limit);
  }
  inventory.cpu_milli = static_cast<std::uint32_t>(cpu);
  inventory.memory_bytes = memory;
  inventory.disk_bytes = free_bytes(options.disk_directory);
  probe_devices(options, inventory);
  return inventory;
}

}  // namespace abacus
