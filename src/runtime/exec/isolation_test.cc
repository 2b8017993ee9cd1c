// Cgroup layouts of real systems, and their command-line form.
#include "runtime/exec/isolation.h"

#include <gtest/gtest.h>

#include <iostream>

namespace abacus {
namespace {

CgroupBranch branch(int version, const std::string& names, const std::string& path) {
  return CgroupBranch::parse("v" + std::to_string(version) + ":" + names + ":" + path).value_or(CgroupBranch{});
}

TEST(FindBranches, Version2Alone) {
  auto found = find_branches("29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
                             "0::/system.slice/abacus.service\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], branch(2, "", "/sys/fs/cgroup/system.slice/abacus.service"));
}

TEST(FindBranches, HybridUsesVersion1) {
  auto found = find_branches(
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "37 31 0:34 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
      "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "4:memory:/jobs/7\n2:freezer:/\n1:cpu,cpuacct:/\n0::/user.slice\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], branch(1, "cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct"));
  EXPECT_EQ(found[1], branch(1, "memory", "/sys/fs/cgroup/memory/jobs/7"));
}

TEST(FindBranches, AContainerSeesItsPartOnly) {
  auto found = find_branches("35 31 0:32 /docker/c /sys/fs/cgroup/my\\040memory ro - cgroup cgroup rw,memory\n",
                             "4:memory:/docker/c/inner\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, "/sys/fs/cgroup/my memory/inner");
}

TEST(FindBranches, NothingAndNonsense) {
  EXPECT_TRUE(find_branches("", "").empty());
  EXPECT_TRUE(find_branches("x\n - \n1 2 3 - cgroup\n1 2 3 4 5 - cgroup c rw,memory\n", "memory\n::\n:::\n").empty());
}

TEST(CgroupBranch, ComesBackFromItsText) {
  for (const char* text : {"v1:cpu,cpuacct:/a/b:c", "v2:cpu,memory,pids:/x", "v2::/x"}) {
    auto parsed = CgroupBranch::parse(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(parsed->to_string(), text);
  }
  for (const char* text : {"", "v3:cpu:/x", "v1:disk:/x", "v1:cpu:x", "v1:cpu", "v1"}) {
    EXPECT_FALSE(CgroupBranch::parse(text).has_value()) << text;
  }
}

TEST(CgroupBranch, TrackingPrefersWhatCanBeKilledAtOnce) {
  auto memory = branch(1, "memory", "/m"), pids = branch(1, "pids", "/p"), second = branch(2, "", "/u");
  EXPECT_EQ(tracking_branch({memory, pids, second}), second);
  EXPECT_EQ(tracking_branch({memory, pids}), pids);
  EXPECT_EQ(tracking_branch({memory}), memory);
}

TEST(ParsePids, SkipsWhatMustNotBeKilled) {
  EXPECT_EQ(parse_pids("0\n1\n17\n\n18 19"), (std::vector<pid_t>{17, 18, 19}));
  EXPECT_TRUE(parse_pids("-5\n99999999999999999999\nx").size() <= 1) << "garbage names no crowd";
}

TEST(ProbeIsolation, SaysHowOrWhyNot) {
  IsolationReport report = probe_isolation();
  for (const Enforcement* limit : {&report.cpu, &report.memory, &report.pids}) EXPECT_FALSE(limit->how.empty());
  std::cout << report.to_string() << "\n";
  bool any = report.cpu.enforced || report.memory.enforced || report.pids.enforced;
  EXPECT_LE(any, !report.branches.empty());
}

}  // namespace
}  // namespace abacus
