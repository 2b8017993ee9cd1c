// Declarations against a made-up machine: less, more, devices, simulated ones, mistakes.
#include "runtime/devices/capacity_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace abacus {
namespace {

using ::testing::HasSubstr;

HostInventory machine() {
  HostInventory host{8000, 64ull << 30, 500ull << 30, {}, {}};
  host.devices.push_back({"gpu", "NVIDIA A100", 4, 40ull << 30, false, {"/dev/nvidia0"}, {0, 1, 2, 3}});
  host.devices.push_back({"gpu", "gfx90a", 2, 64ull << 30, false, {}, {0, 1}});
  host.devices.push_back({"fpga", "Stratix", 1, 0, false, {}, {0}});
  return host;
}

HostInventory good(std::string_view text) {
  auto result = apply_capacity(text, machine());
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(HostInventory{});
}

std::string bad(std::string_view text) {
  auto result = apply_capacity(text, machine());
  EXPECT_FALSE(result) << text;
  return result ? "" : result.error().message;
}

TEST(CapacityText, DeclaresLess) {
  HostInventory host = good("cpu=2.5,memory=4GiB,disk=10GiB");
  EXPECT_EQ(host.cpu_milli, 2500u);
  EXPECT_EQ(host.memory_bytes, 4ull << 30);
  EXPECT_EQ(host.disk_bytes, 10ull << 30);
  EXPECT_EQ(host.devices, machine().devices) << "what is not named stays";
}

TEST(CapacityText, RefusesMoreThanThereIsUnlessToldTwice) {
  EXPECT_EQ(
      bad("cpu=9"),
      "capacity 'cpu=9': this machine has 8 CPU; declare at most that, or write cpu=9! to promise more than it has");
  EXPECT_THAT(bad("cpu=1,memory=1TiB"), HasSubstr("capacity 'memory=1TiB': this machine has 64 GiB of memory"));
  EXPECT_EQ(good("cpu=16!,memory=1TiB!").cpu_milli, 16000u);
}

TEST(CapacityText, ChoosesDevices) {
  EXPECT_EQ(good("gpu=0").devices.size(), 1u);
  HostInventory some = good("gpu=5");
  ASSERT_EQ(some.devices.size(), 3u);
  EXPECT_EQ(some.devices[1].count, 4u);
  EXPECT_EQ(some.devices[2].count, 1u);
  EXPECT_EQ(some.devices[2].indices, std::vector<std::uint32_t>{0});
  HostInventory named = good("gpu=1:nvidia a100,gpu=2:gfx90a,fpga=0");
  ASSERT_EQ(named.devices.size(), 2u);
  EXPECT_EQ(named.devices[0].model, "NVIDIA A100");
  EXPECT_EQ(named.devices[0].count, 1u);
  EXPECT_FALSE(named.devices[0].simulated);
}

TEST(CapacityText, CountsADeviceOnce) {
  EXPECT_EQ(good("gpu=1,gpu=2:nvidia a100").devices[1].indices, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_THAT(bad("gpu=4,gpu=1:nvidia a100"), HasSubstr("declares 5 of 'NVIDIA A100', and this machine has 4"));
}

TEST(CapacityText, MarksSimulatedDevices) {
  HostInventory host = good("gpu=8:simulated-h100:80GiB,gpu=1:gfx90a");
  ASSERT_EQ(host.devices.size(), 3u);
  EXPECT_EQ(host.devices[1], (DeviceEntry{"gpu", "simulated-h100", 8, 80ull << 30, true, {}, {}}));
  EXPECT_FALSE(host.devices[2].simulated);
  EXPECT_THAT(bad("gpu=1:simulated-"), HasSubstr("want a name"));
}

TEST(CapacityText, SaysWhatIsWrong) {
  EXPECT_THAT(bad("gpu=7"), HasSubstr("this machine has 4 of 'NVIDIA A100', 2 of 'gfx90a'"));
  EXPECT_THAT(bad("accel=1"), HasSubstr("this machine has no accel"));
  EXPECT_THAT(bad("gpu=1:h100"), HasSubstr("gpu=1:simulated-NAME"));
  EXPECT_THAT(bad("tpu=1"), HasSubstr("'tpu' is not one of cpu, memory, disk, gpu, fpga, accel"));
  EXPECT_THAT(bad("cpu=1,cpu=2"), HasSubstr("declared twice"));
  EXPECT_THAT(bad("cpu=fast"), HasSubstr("cpu=0.5"));
  EXPECT_THAT(bad("memory=4 parsecs"), HasSubstr("capacity 'memory=4 parsecs'"));
  for (const char* text :
       {"", "cpu", "cpu=", "=2", "cpu=1,", ",cpu=1", "cpu=0", "cpu=0.0001", "cpu=-1", "gpu=1:", "gpu=x", "cpu=1!!"}) {
    EXPECT_FALSE(bad(text).empty());
  }
}

TEST(CapacityText, AnyTextIsAnsweredWithinTheMachine) {
  rc::check([] {
    auto text =
        *rc::gen::container<std::string>(rc::gen::element('c', 'p', 'u', '=', ',', '1', '.', ':', 'g', '0', 'k'));
    auto result = apply_capacity(text, machine());
    if (result) RC_ASSERT(result->cpu_milli <= machine().cpu_milli && result->cpu_milli > 0u);
  });
}

}  // namespace
}  // namespace abacus
