// Durations as text for people.
#include "base/time.h"

#include <fmt/format.h>

namespace abacus {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kMillisecond = 1'000 * kMicrosecond;
constexpr std::uint64_t kSecond = 1'000 * kMillisecond;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;

/// ns / unit with three significant digits, cut and not rounded: 999.9 us must not read as 1000 us.
std::string three_digits(std::uint64_t ns, std::uint64_t unit) {
  std::uint64_t whole = ns / unit;
  if (whole >= 100) return std::to_string(whole);
  std::uint64_t hundredths = ns % unit / (unit / 100);
  if (whole >= 10) hundredths -= hundredths % 10;
  std::string text = fmt::format("{}.{:02}", whole, hundredths);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string magnitude_text(std::uint64_t ns) {
  if (ns < kMicrosecond) return fmt::format("{} ns", ns);
  if (ns < kMillisecond) return three_digits(ns, kMicrosecond) + " us";
  if (ns < kSecond) return three_digits(ns, kMillisecond) + " ms";
  if (ns < kMinute) return three_digits(ns, kSecond) + " s";
  if (ns < kHour) return fmt::format("{} min {} s", ns / kMinute, ns % kMinute / kSecond);
  return fmt::format("{} h {} min", ns / kHour, ns % kHour / kMinute);
}

}  // namespace

std::string to_string(Duration duration) {
  std::uint64_t bits = static_cast<std::uint64_t>(duration.ns);
  return duration.ns < 0 ? "-" + magnitude_text(0 - bits) : magnitude_text(bits);
}

}  // namespace abacus
