// Made-up machines of several makers, built as trees of files, and the real one.
#include "runtime/devices/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/devices/nvidia_smi.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

namespace fs = std::filesystem;

class ProbeTest : public ::testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  void program(const std::string& path, const std::string& script) {
    file(path, "#!/bin/sh\n" + script);
    ::chmod((root_ / path).c_str(), 0755);
  }

  void pci(const std::string& address, const std::string& type, const std::string& vendor, const std::string& device) {
    std::string folder = "sys/bus/pci/devices/" + address;
    file(folder + "/class", type + "\n");
    file(folder + "/vendor", vendor + "\n");
    file(folder + "/device", device + "\n");
  }

  void link(const std::string& path, const std::string& target) {
    fs::create_directories((root_ / path).parent_path());
    fs::create_symlink(root_ / target, root_ / path);
  }

  void base() {
    file("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-5,8,10-11\n");
    file("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
  }

  HostInventory probe() { return probe_host({root_.path().string(), root_.path().string(), milliseconds(500)}); }

  TemporaryDirectory root_;
};

TEST_F(ProbeTest, CountsCpuAndMemory) {
  base();
  HostInventory host = probe();
  EXPECT_EQ(host.cpu_milli, 9000u);
  EXPECT_EQ(host.memory_bytes, 16ull << 30);
  EXPECT_GT(host.disk_bytes, 0u);
  EXPECT_THAT(host.devices, ::testing::IsEmpty());
}

TEST_F(ProbeTest, RespectsVersion1Limits) {
  base();
  file("proc/self/mountinfo",
       "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
       "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  file("proc/self/cgroup", "4:memory:/a/b\n1:cpu,cpuacct:/a/b\n0::/\n");
  file("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n");
  file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  HostInventory host = probe();
  EXPECT_EQ(host.cpu_milli, 2500u) << "the group above sets the limit";
  EXPECT_EQ(host.memory_bytes, 1ull << 30);
}

TEST_F(ProbeTest, RespectsVersion2LimitsInAContainer) {
  base();
  // The mount shows only the container's own part of the hierarchy.
  file("proc/self/mountinfo", "30 23 0:26 /docker/x /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n");
  file("proc/self/cgroup", "0::/docker/x\n");
  file("sys/fs/cgroup/cpu.max", "50000 100000\n");
  file("sys/fs/cgroup/memory.max", "max\n");
  HostInventory host = probe();
  EXPECT_EQ(host.cpu_milli, 500u);
  EXPECT_EQ(host.memory_bytes, 16ull << 30);
}

TEST_F(ProbeTest, FindsNvidiaGpus) {
  base();
  for (int i = 0; i < 2; ++i) {
    std::string address = i == 0 ? "0000:3b:00.0" : "0000:af:00.0";
    file("proc/driver/nvidia/gpus/" + address + "/information",
         "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 88\nBus Location: \t " + address + "\nDevice Minor: \t " +
             std::to_string(i) + "\n");
    file("dev/nvidia" + std::to_string(i), "");
    pci(address, "0x030200", "0x10de", "0x20b0");
  }
  pci("0000:d8:00.0", "0x030200", "0x10de", "0x20b0");
  HostInventory without = probe();
  ASSERT_EQ(without.devices.size(), 1u);
  EXPECT_EQ(without.devices[0].count, 2u);
  EXPECT_EQ(without.devices[0].memory_bytes, 0u);
  ASSERT_EQ(without.notes.size(), 1u) << "the third has no driver";
  EXPECT_EQ(without.notes[0],
            "NVIDIA GPU 0000:d8:00.0 (10de-20b0) is on the PCI bus, but no driver offers it for computing");

  program("usr/bin/nvidia-smi",
          "[ \"$1\" = --query-gpu=index,pci.bus_id,name,memory.total ] || exit 1\n"
          "echo '0, 00000000:3B:00.0, NVIDIA A100-SXM4-40GB, 40960'\n"
          "echo '1, 00000000:AF:00.0, NVIDIA A100-SXM4-40GB, 40960'\n");
  HostInventory host = probe();
  ASSERT_EQ(host.devices.size(), 1u);
  EXPECT_EQ(
      host.devices[0],
      (DeviceEntry{"gpu", "NVIDIA A100-SXM4-40GB", 2, 40ull << 30, false, {"/dev/nvidia0", "/dev/nvidia1"}, {0, 1}}));
}

TEST_F(ProbeTest, OutlivesABrokenNvidiaSmi) {
  base();
  file("proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: Tesla T4\nDevice Minor: 0\n");
  file("dev/nvidia0", "");
  program("usr/bin/nvidia-smi", "exec sleep 60\n");
  HostInventory hanging = probe();
  ASSERT_EQ(hanging.devices.size(), 1u);
  EXPECT_EQ(hanging.devices[0].model, "Tesla T4");
  ASSERT_EQ(hanging.notes.size(), 1u);
  EXPECT_THAT(hanging.notes[0], ::testing::HasSubstr("gave no answer within 500 ms"));
  program("usr/bin/nvidia-smi", "echo garbage; exit 9\n");
  EXPECT_THAT(probe().notes.at(0), ::testing::HasSubstr("exit code 9"));
  fs::remove(root_ / "dev/nvidia0");
  HostInventory nodeless = probe();
  EXPECT_THAT(nodeless.devices, ::testing::IsEmpty());
  EXPECT_THAT(nodeless.notes, ::testing::Contains(::testing::HasSubstr("no device node /dev/nvidia0")));
}

TEST_F(ProbeTest, FindsAmdGpus) {
  base();
  std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  file(nodes + "0/properties", "cpu_cores_count 64\nsimd_count 0\n");
  file(nodes + "1/properties",
       "cpu_cores_count 0\nsimd_count 440\nvendor_id 4098\ndevice_id 29711\nlocation_id 25344\ndomain "
       "0\ndrm_render_minor 128\n");
  file(nodes + "1/name", "aldebaran\n");
  file(nodes + "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 68702699520\n");
  file(nodes + "1/mem_banks/1/properties", "heap_type 0\nsize_in_bytes 1\n");
  pci("0000:63:00.0", "0x038000", "0x1002", "0x740f");
  HostInventory host = probe();
  ASSERT_EQ(host.devices.size(), 1u);
  EXPECT_EQ(host.devices[0],
            (DeviceEntry{"gpu", "aldebaran", 1, 68702699520u, false, {"/dev/kfd", "/dev/dri/renderD128"}, {0}}));
  EXPECT_THAT(host.notes, ::testing::IsEmpty()) << "location 25344 is 63:00.0";
}

TEST_F(ProbeTest, FindsIntelGpusFpgasAndOtherAccelerators) {
  base();
  pci("0000:00:02.0", "0x030000", "0x8086", "0x56c0");
  pci("0000:01:00.0", "0x030000", "0x1a03", "0x2000");  // The picture of a server's management chip.
  pci("0000:05:00.0", "0x120000", "0x1da3", "0x1020");
  link("sys/class/drm/renderD128/device", "sys/bus/pci/devices/0000:00:02.0");
  link("sys/class/accel/accel0/device", "sys/bus/pci/devices/0000:05:00.0");
  file("sys/class/fpga_manager/fpga0/name", "Xilinx ZynqMP FPGA Manager\n");
  HostInventory host = probe();
  ASSERT_EQ(host.devices.size(), 3u);
  EXPECT_EQ(host.devices[0], (DeviceEntry{"gpu", "8086-56c0", 1, 0, false, {"/dev/dri/renderD128"}, {0}}));
  EXPECT_EQ(host.devices[1], (DeviceEntry{"fpga", "Xilinx ZynqMP FPGA Manager", 1, 0, false, {}, {0}}));
  EXPECT_EQ(host.devices[2], (DeviceEntry{"accel", "1da3-1020", 1, 0, false, {"/dev/accel/accel0"}, {0}}));
  EXPECT_THAT(host.notes, ::testing::IsEmpty());
}

TEST(NvidiaSmi, SkipsWhatIsNoAnswer) {
  auto gpus = parse_nvidia_smi(
      "No devices were found\n\n0, 00000000:0F:01.0, NVIDIA GB10, [N/A]\n,,,\n1,2\n7, 0000:0A:00.0, A, B, 16\n");
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0], (NvidiaGpu{0, "0000:0f:01.0", "NVIDIA GB10", 0}));
  EXPECT_EQ(gpus[1], (NvidiaGpu{7, "0000:0a:00.0", "A, B", 16u << 20}));
}

TEST(Probe, ThisMachine) {
  HostInventory host = probe_host({});
  EXPECT_GE(host.cpu_milli, 1u);
  EXPECT_LE(host.cpu_milli, static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_CONF)) * 1000);
  EXPECT_GT(host.memory_bytes, 100u << 20);
  EXPECT_GT(host.disk_bytes, 0u);
}

}  // namespace
}  // namespace abacus
