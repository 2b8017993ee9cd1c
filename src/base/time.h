// Integer nanoseconds. Monotonic and wall time are different types; neither can be read here, only passed in.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace abacus {

/// A span of time, possibly negative. +-292 years.
struct Duration {
  std::int64_t ns = 0;

  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return {ns + other.ns}; }
  constexpr Duration operator-(Duration other) const { return {ns - other.ns}; }
  constexpr Duration operator*(std::int64_t factor) const { return {ns * factor}; }
  constexpr Duration operator/(std::int64_t divisor) const { return {ns / divisor}; }
  constexpr Duration& operator+=(Duration other) {
    ns += other.ns;
    return *this;
  }
  constexpr std::int64_t us() const { return ns / 1'000; }
  constexpr std::int64_t ms() const { return ns / 1'000'000; }
  constexpr std::int64_t s() const { return ns / 1'000'000'000; }
};

constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration microseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000}; }
constexpr Duration minutes(std::int64_t n) { return seconds(n * 60); }
constexpr Duration hours(std::int64_t n) { return minutes(n * 60); }

/// A point in time on one clock. MonoTime never goes back and means nothing on another machine or after a reboot;
/// WallTime (since 1970, UTC) does both.
template <class Clock>
struct Instant {
  std::int64_t ns = 0;

  auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration d) const { return {ns + d.ns}; }
  constexpr Instant operator-(Duration d) const { return {ns - d.ns}; }
  constexpr Duration operator-(Instant other) const { return {ns - other.ns}; }
};

using MonoTime = Instant<struct MonoClock>;
using WallTime = Instant<struct WallClock>;

/// Both clocks, read together by the driver once per event.
struct Now {
  MonoTime mono;
  WallTime wall;
};

/// "1.5 ms", "3 s", "2 min 5 s": two parts or three digits at most, cut and not rounded, for people.
std::string to_string(Duration duration);

}  // namespace abacus
