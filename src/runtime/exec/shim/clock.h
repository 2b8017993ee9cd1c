// The two clocks, read where time enters the shim.
#pragma once

#include <ctime>

#include "base/time.h"

namespace abacus::shim {

inline std::int64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline MonoTime mono_now() { return {read_clock_ns(CLOCK_MONOTONIC)}; }
inline WallTime wall_now() { return {read_clock_ns(CLOCK_REALTIME)}; }

}  // namespace abacus::shim
