// Durations as number-unit pairs; dates by Howard Hinnant's days-from-civil arithmetic.
#include "base/time_text.h"

#include <array>
#include <optional>

#include "base/int128.h"

namespace abacus {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};

// From long to short; of two names with a common start the longer comes first.
constexpr std::array<Unit, 8> kUnits = {{{"d", 86'400'000'000'000},
                                         {"h", 3'600'000'000'000},
                                         {"min", 60'000'000'000},
                                         {"ms", 1'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"us", 1'000},
                                         {"ns", 1}}};
constexpr std::int64_t kMaxNs = 100LL * 365 * 86'400 * 1'000'000'000;
constexpr int kDigitsMax = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A decimal number taken off the front of `text`: value / scale.
struct Decimal {
  Int128 value = 0;
  Int128 scale = 1;
};

std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  int digits = 0;
  bool fraction = false;
  while (!text.empty() && (is_digit(text.front()) || (text.front() == '.' && !fraction && digits > 0))) {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (++digits > kDigitsMax) return std::nullopt;
    number.value = number.value * 10 + (c - '0');
    if (fraction) number.scale *= 10;
  }
  if (digits == 0 || (fraction && number.scale == 1)) return std::nullopt;
  return number;
}

std::optional<Unit> take_unit(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] >= 'a' && text[length] <= 'z') ++length;
  for (const Unit& unit : kUnits) {
    if (text.substr(0, length) != unit.name) continue;
    text.remove_prefix(length);
    return unit;
  }
  return std::nullopt;
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

std::optional<std::int64_t> sum_of_parts(std::string_view rest) {
  Int128 total = 0;
  std::int64_t previous = kMaxNs;
  while (!rest.empty()) {
    auto number = take_decimal(rest);
    if (!number) return std::nullopt;
    skip_spaces(rest);
    bool bare = rest.empty() && previous == kMaxNs;
    auto unit = bare ? std::optional<Unit>(Unit{"s", 1'000'000'000}) : take_unit(rest);
    if (!unit || unit->ns >= previous) return std::nullopt;
    previous = unit->ns;
    total += number->value * unit->ns / number->scale;
    if (total > kMaxNs) return std::nullopt;
    skip_spaces(rest);
  }
  if (previous == kMaxNs) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::int64_t days_from_civil(std::int64_t year, int month, int day) {
  year -= month <= 2;
  std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  std::int64_t year_of_era = year - era * 400;
  std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

struct Civil {
  std::int64_t year;
  int month, day;
};

Civil civil_from_days(std::int64_t days) {
  days += 719'468;
  std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  std::int64_t day_of_era = days - era * 146'097;
  std::int64_t year_of_era = (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  std::int64_t shifted = (5 * day_of_year + 2) / 153;
  int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  int day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
  return {year_of_era + era * 400 + (month <= 2), month, day};
}

/// Takes `digits` digits, which must be there; -1 if they are not.
int take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return -1;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return -1;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<WallTime> civil_time(std::string_view rest) {
  int year = take_number(rest, 4);
  if (!take_char(rest, "-")) return std::nullopt;
  int month = take_number(rest, 2);
  if (!take_char(rest, "-")) return std::nullopt;
  int day = take_number(rest, 2);
  if (!take_char(rest, "T ")) return std::nullopt;
  int hour = take_number(rest, 2);
  if (!take_char(rest, ":")) return std::nullopt;
  int minute = take_number(rest, 2);
  int second = take_char(rest, ":") ? take_number(rest, 2) : 0;
  take_char(rest, "Z");
  bool in_range = year >= 1970 && year < 2262 && month >= 1 && month <= 12 && day >= 1 && hour >= 0 && hour < 24 &&
                  minute >= 0 && minute < 60 && second >= 0 && second < 60;
  if (!rest.empty() || !in_range) return std::nullopt;
  std::int64_t days = days_from_civil(year, month, day);
  if (civil_from_days(days).day != day) return std::nullopt;  // such as 30 February
  return WallTime{(((days * 24 + hour) * 60 + minute) * 60 + second) * 1'000'000'000};
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (auto ns = sum_of_parts(text)) return Duration{*ns};
  return fail(ErrorCode::invalid,
              "'{}' is not a duration: want seconds, or numbers with ms, s, m, h or d, such as 1h30m", text);
}

Result<WallTime> parse_wall_time(std::string_view text) {
  if (auto time = civil_time(text)) return *time;
  return fail(ErrorCode::invalid, "'{}' is not a time: want UTC such as 2026-12-01T18:30:00Z", text);
}

std::string utc_text(WallTime time) {
  std::int64_t seconds_total = time.ns / 1'000'000'000 - (time.ns % 1'000'000'000 < 0);
  std::int64_t days = seconds_total / 86'400 - (seconds_total % 86'400 < 0);
  std::int64_t of_day = seconds_total - days * 86'400;
  Civil date = civil_from_days(days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", date.year, date.month, date.day, of_day / 3600,
                     of_day / 60 % 60, of_day % 60);
}

}  // namespace abacus
