// Devices: who gets which, and that none is given twice.
#include "core/selling/device_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "core/selling/room.h"

namespace abacus {
namespace {

using ::testing::ElementsAre;

std::vector<DeviceStock> stock() {
  return {{"gpu", "a", 4, 0, false}, {"gpu", "b", 2, 0, false}, {"fpga", "x", 1, 0, false}};
}

TEST(DeviceLedger, IndicesCountThroughTheStock) {
  DeviceLedger ledger(stock());
  EXPECT_THAT(ledger.take({{"gpu", "b", 1}, {"fpga", "", 1}}, 1), ElementsAre(4, 6));
  EXPECT_THAT(ledger.free_counts(), ElementsAre(4, 1, 0));
}

TEST(DeviceLedger, BestFitKeepsLargeEntriesWhole) {
  DeviceLedger ledger(stock());
  EXPECT_THAT(ledger.take({{"gpu", "", 2}}, 1), ElementsAre(4, 5));
  EXPECT_THAT(ledger.take({{"gpu", "", 4}}, 1), ElementsAre(0, 1, 2, 3));
}

TEST(DeviceLedger, MixesModelsOnlyWhereNoneHoldsAll) {
  DeviceLedger ledger(stock());
  EXPECT_EQ(ledger.take({{"gpu", "", 5}}, 1).size(), 5u);
  EXPECT_THAT(ledger.free_counts(), ElementsAre(1, 0, 1));
}

TEST(DeviceLedger, NamedNeedsComeFirst) {
  DeviceLedger ledger(stock());
  std::vector<std::uint32_t> devices = ledger.take({{"gpu", "", 1}, {"gpu", "b", 1}}, 2);
  EXPECT_THAT(devices, ElementsAre(0, 4, 1, 5));
}

TEST(DeviceLedger, UseOutlivesAChangeOfStock) {
  DeviceLedger ledger(stock());
  std::vector<std::uint32_t> devices = ledger.take({{"gpu", "a", 3}}, 1);
  ledger.set_stock({{"gpu", "a", 2, 0, false}});
  EXPECT_THAT(ledger.free_counts(), ElementsAre(0));
  ledger.give_back(devices);
  EXPECT_THAT(ledger.free_counts(), ElementsAre(2));
}

TEST(Room, HoldsBeyondTheCapacityWithoutWrapping) {
  Room room({4'000, 1'000, 0, stock()});
  room.hold({3'000, 900, 0, {{"gpu", "", 1}}}, 2, {0, 40});
  EXPECT_EQ(room.free().cpu_milli, 0u);
  EXPECT_EQ(room.free().devices[0].count, 3u);
  room.release({3'000, 900, 0, {{"gpu", "", 1}}}, 2, {0, 40});
  EXPECT_EQ(room.free(), room.capacity());
}

RC_GTEST_PROP(DeviceLedgerProperty, NoDeviceIsGivenTwice, ()) {
  Room room({1'000'000, 0, 0, stock()});
  std::vector<std::pair<Bundle, std::vector<std::uint32_t>>> held;
  std::multiset<std::uint32_t> in_use;
  for (int i = 0; i < 40; ++i) {
    if (*rc::gen::arbitrary<bool>() && !held.empty()) {
      std::size_t which = *rc::gen::inRange<std::size_t>(0, held.size());
      room.release(held[which].first, 1, held[which].second);
      for (std::uint32_t device : held[which].second) in_use.erase(in_use.find(device));
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    auto models = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange(1, 3),
                                                                rc::gen::element<std::string>("", "a", "b"));
    Bundle bundle{1, 0, 0, {}};
    for (const std::string& model : models)
      bundle.devices.push_back({"gpu", model, *rc::gen::inRange<std::uint32_t>(1, 3)});
    if (slots_that_fit(room.free(), bundle) == 0) continue;
    held.emplace_back(bundle, room.reserve(bundle, 1));
    std::size_t at = 0;
    for (const DeviceNeed& need : bundle.devices) {
      for (std::uint32_t n = 0; n < need.count; ++n, ++at) {
        std::uint32_t device = held.back().second[at];
        in_use.insert(device);
        RC_ASSERT(in_use.count(device) == 1u);
        RC_ASSERT(need.model.empty() || (device < 4) == (need.model == "a"));
        RC_ASSERT(device < 6u);
      }
    }
  }
  std::uint32_t free = 0;
  for (const DeviceStock& s : room.free().devices) free += s.count;
  RC_ASSERT(free + in_use.size() == 7u);
}

}  // namespace
}  // namespace abacus
