// The agenda gives back what was put in, by time, and ties in the order of scheduling.
#include "sim/event_heap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace abacus::sim {
namespace {

TEST(EventHeap, TiesKeepTheirOrder) {
  EventHeap<int> heap;
  for (int i = 0; i < 100; ++i) heap.push(MonoTime{5}, i);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(heap.pop().value, i);
  EXPECT_TRUE(heap.empty());
}

RC_GTEST_PROP(EventHeap, SortsStably, (std::vector<std::uint8_t> times)) {
  EventHeap<std::size_t> heap;
  std::vector<std::pair<std::uint8_t, std::size_t>> expected;
  for (std::size_t i = 0; i < times.size(); ++i) {
    heap.push(MonoTime{times[i]}, i);
    expected.emplace_back(times[i], i);
  }
  std::sort(expected.begin(), expected.end());
  for (const auto& [at, value] : expected) {
    auto entry = heap.pop();
    RC_ASSERT(entry.at == MonoTime{at});
    RC_ASSERT(entry.value == value);
  }
}

RC_GTEST_PROP(EventHeap, MixesPushesAndPops, (std::vector<std::uint8_t> steps)) {
  EventHeap<int> heap;
  std::vector<std::int64_t> waiting;
  for (std::uint8_t step : steps) {
    if (step % 3 == 0 && !heap.empty()) {
      auto least = std::min_element(waiting.begin(), waiting.end());
      RC_ASSERT(heap.pop().at.ns == *least);
      waiting.erase(least);
    } else {
      heap.push(MonoTime{step}, 0);
      waiting.push_back(step);
    }
  }
  RC_ASSERT(heap.size() == waiting.size());
}

}  // namespace
}  // namespace abacus::sim
