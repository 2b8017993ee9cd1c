// Measures by the thread's processor time and the process's peak memory.
#include "main/sim_speed.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/prng.h"
#include "sim/event_heap.h"

namespace abacus {
namespace {

constexpr std::uint64_t kCeilingEvents = 4'000'000;
constexpr std::int64_t kSpread_ns = 1'000'000'000;

Duration processor_time() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return seconds(spent.tv_sec) + Duration{spent.tv_nsec};
}

std::uint64_t rate_per_s(std::uint64_t count, Duration time) {
  return count * 1'000'000 / std::max<std::uint64_t>(1, static_cast<std::uint64_t>(time.ns) / 1'000);
}

/// Events a second of a heap with `pending` of them: the earliest out, another one in.
std::uint64_t bare_heap_rate_per_s(std::size_t pending) {
  using Payload = std::array<std::uint64_t, 6>;  // About as large as what the simulator schedules.
  sim::EventHeap<Payload> heap;
  Prng prng(1);
  for (std::size_t i = 0; i < pending; ++i) heap.push(MonoTime{} + Duration{prng.between(0, kSpread_ns)}, {});
  Duration began = processor_time();
  for (std::uint64_t i = 0; i < kCeilingEvents; ++i) {
    auto entry = heap.pop();
    heap.push(entry.at + Duration{prng.between(0, kSpread_ns)}, entry.value);
  }
  return rate_per_s(kCeilingEvents, processor_time() - began);
}

std::uint64_t peak_memory_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss);
}

}  // namespace

SpeedGauge::SpeedGauge() : began_(processor_time()) {}

std::string SpeedGauge::report(std::size_t nodes, const sim::TrialResult& result) const {
  Duration spent = processor_time() - began_;
  std::uint64_t memory_kib = peak_memory_kib();
  std::uint64_t rate = rate_per_s(result.events, spent);
  std::uint64_t ceiling = bare_heap_rate_per_s(std::max<std::size_t>(result.agenda_peak, 1));
  return fmt::format(
      "speed: {} events in {} of one core: {} a second, {:.3f} of the bare heap's {} with {} pending; "
      "{} MiB, {} KiB a node",
      result.events, to_string(spent), rate, static_cast<double>(rate) / static_cast<double>(ceiling), ceiling,
      result.agenda_peak, memory_kib / 1'024, memory_kib / std::max<std::size_t>(nodes, 1));
}

}  // namespace abacus
