// Checked money arithmetic, and amounts to and from text.
#include "base/money.h"

#include <fmt/format.h>

#include <limits>

#include "base/int128.h"

namespace abacus {
namespace {

std::int64_t checked(Int128 value) { return narrow(value, "money overflow"); }

constexpr std::int64_t kMicroPerCredit = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

Money Money::operator+(Money other) const { return {checked(static_cast<Int128>(micro) + other.micro)}; }
Money Money::operator-(Money other) const { return {checked(static_cast<Int128>(micro) - other.micro)}; }
Money Money::operator*(std::int64_t factor) const { return {checked(static_cast<Int128>(micro) * factor)}; }
Money Money::operator-() const { return {checked(-static_cast<Int128>(micro))}; }

Price Price::operator+(Price other) const { return {checked(static_cast<Int128>(micro_per_s) + other.micro_per_s)}; }

Money cost_of(Price price, std::int64_t slots, Duration time) {
  CHECK(slots >= 0 && time.ns >= 0);
  // Three 64-bit factors can pass 128 bits; slots x time cannot in practice, so it is narrowed (and checked) first.
  std::int64_t slot_ns = checked(static_cast<Int128>(slots) * time.ns);
  return {checked(divide_up(static_cast<Int128>(price.micro_per_s) * slot_ns, kNsPerSecond))};
}

std::string to_string(Money money) {
  std::uint64_t magnitude =
      money.micro < 0 ? 0 - static_cast<std::uint64_t>(money.micro) : static_cast<std::uint64_t>(money.micro);
  std::string text =
      fmt::format("{}{}.{:06}", money.micro < 0 ? "-" : "", magnitude / kMicroPerCredit, magnitude % kMicroPerCredit);
  std::size_t shortest = text.find('.') + 3;
  while (text.size() > shortest && text.back() == '0') text.pop_back();
  return text + " cr";
}

std::string to_string(Price price) {
  return fmt::format("{:.4g} cr/h", static_cast<double>(price.micro_per_s) * 3600 / kMicroPerCredit);
}

Result<Money> parse_money(std::string_view text) {
  auto wrong = [&] {
    return fail(ErrorCode::invalid, "'{}' is not an amount: want credits with at most six decimals, such as 2.50",
                text);
  };
  std::string_view rest = text;
  bool negative = !rest.empty() && rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  Int128 micro = 0;
  int decimals = -1, digits = 0;
  for (char c : rest) {
    if (c == '.' && decimals < 0 && digits > 0) {
      decimals = 0;
    } else if (c >= '0' && c <= '9' && decimals < 6 && digits < 19) {
      micro = micro * 10 + (c - '0');
      ++digits;
      if (decimals >= 0) ++decimals;
    } else {
      return wrong();
    }
  }
  if (digits == 0 || decimals == 0) return wrong();
  for (int i = decimals < 0 ? 0 : decimals; i < 6; ++i) micro *= 10;
  if (micro > std::numeric_limits<std::int64_t>::max()) return wrong();
  return Money{static_cast<std::int64_t>(negative ? -micro : micro)};
}

}  // namespace abacus
