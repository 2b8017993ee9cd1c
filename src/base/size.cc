// Sizes: a decimal number in integer arithmetic, times a unit.
#include "base/size.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/int128.h"

namespace abacus {
namespace {

struct Unit {
  std::string_view name;  // lower case
  std::uint64_t bytes;
};

constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                          {"b", 1},
                                          {"k", 1ull << 10},
                                          {"kib", 1ull << 10},
                                          {"kb", 1'000},
                                          {"m", 1ull << 20},
                                          {"mib", 1ull << 20},
                                          {"mb", 1'000'000},
                                          {"g", 1ull << 30},
                                          {"gib", 1ull << 30},
                                          {"gb", 1'000'000'000},
                                          {"t", 1ull << 40},
                                          {"tib", 1ull << 40},
                                          {"tb", 1'000'000'000'000}}};
constexpr int kDigitsMax = 18;

std::uint64_t unit_bytes(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == lower; });
  return unit == kUnits.end() ? 0 : unit->bytes;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  auto wrong = [&] {
    return fail(ErrorCode::invalid,
                "'{}' is not a size: want bytes, or a number with KiB, MiB, GiB or TiB, such as 4GiB", text);
  };
  Int128 number = 0, scale = 1;
  std::size_t at = 0;
  int digits = 0;
  bool fraction = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '.' && !fraction && digits > 0) {
      fraction = true;
    } else if (c >= '0' && c <= '9' && digits < kDigitsMax) {
      number = number * 10 + (c - '0');
      if (fraction) scale *= 10;
      ++digits;
    } else {
      break;
    }
  }
  if (digits == 0 || (fraction && scale == 1)) return wrong();
  while (at < text.size() && text[at] == ' ') ++at;
  std::uint64_t unit = unit_bytes(text.substr(at));
  if (unit == 0) return wrong();
  Int128 bytes = number * static_cast<Int128>(unit) / scale;
  if (bytes > std::numeric_limits<std::int64_t>::max()) return wrong();
  return static_cast<std::uint64_t>(bytes);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  std::uint64_t hundredths = 0, whole = bytes;
  while (whole >= 1024 && unit + 1 < kNames.size()) {
    hundredths = whole % 1024 * 100 / 1024;
    whole /= 1024;
    ++unit;
  }
  if (whole >= 100) hundredths = 0;
  if (whole >= 10) hundredths -= hundredths % 10;
  std::string number = fmt::format("{}.{:02}", whole, hundredths);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number + " " + kNames[unit];
}

}  // namespace abacus
