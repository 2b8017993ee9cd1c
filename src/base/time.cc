#include "base/time.h"

#include <fmt/format.h>

namespace abacus {

std::string to_string(Duration duration) {
  if (duration.ns < 0) return "-" + to_string(Duration{-duration.ns});
  double ns = static_cast<double>(duration.ns);
  if (duration < microseconds(1)) return fmt::format("{} ns", duration.ns);
  if (duration < milliseconds(1)) return fmt::format("{:.3g} us", ns / 1e3);
  if (duration < seconds(1)) return fmt::format("{:.3g} ms", ns / 1e6);
  if (duration < minutes(1)) return fmt::format("{:.3g} s", ns / 1e9);
  std::int64_t whole = duration.s();
  if (duration < hours(1)) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace abacus
