// Any described value in a few words: field=value for what is not at its default, ids by their first digits.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/size.h"
#include "base/time_text.h"
#include "cli/render.h"
#include "protocol/codec.h"

namespace abacus {
namespace brief {

inline constexpr std::size_t kTextWidth = 60;
inline constexpr std::size_t kItemsShown = 3;

/// One line, whatever is in it, and no longer than `width`.
std::string one_line(std::string text, std::size_t width);

/// "18:30:00.123456", UTC.
std::string clock_text(WallTime time);

inline std::string of(bool value) { return value ? "yes" : "no"; }
template <std::integral T>
std::string of(T value) {
  return std::to_string(value);
}
template <class T>
requires std::is_enum_v<T> std::string of(T value) { return boost::describe::enum_to_string(value, "unknown"); }
inline std::string of(const std::string& value) { return one_line(value, kTextWidth); }
inline std::string of(const Bytes& value) { return fmt::format("{} bytes", value.size()); }
template <std::size_t N>
std::string of(const std::array<std::uint8_t, N>& value) {
  return to_hex(value).substr(0, 8);
}
template <class Tag, std::size_t N>
std::string of(const Id<Tag, N>& value) {
  return value.short_string();
}
inline std::string of(const JobId& value) { return value.to_string(); }
inline std::string of(const TaskId& value) { return value.to_string(); }
inline std::string of(const AttemptId& value) { return value.to_string(); }
inline std::string of(const Endpoint& value) { return value.to_string(); }
inline std::string of(Duration value) { return to_string(value); }
inline std::string of(WallTime value) { return clock_text(value); }
inline std::string of(MonoTime value) { return std::to_string(value.ns); }
inline std::string of(Money value) { return to_string(value); }
inline std::string of(Price value) { return to_string(value); }
inline std::string of(const Contact& value) { return node_text(value.node); }
inline std::string of(const OfferRef& value) {
  return fmt::format("{}#{}", node_text(value->offer.contact.node), value->offer.sequence);
}
inline std::string of(const Bundle& value) { return to_string(value); }
inline std::string of(const Capacity& value) { return to_string(value); }
inline std::string of(const DeclineDetail& value) { return decline_text(value); }
inline std::string of(const TaskEnd& value) {
  return value.message.empty() ? end_text(value) : fmt::format("{} ({})", end_text(value), of(value.message));
}
template <class T>
std::string of(const std::vector<T>& list);
template <class T>
std::string of(const std::optional<T>& value);
template <class... T>
std::string of(const std::variant<T...>& value);
template <codec::Described T>
std::string of(const T& value);

template <class T>
std::string of(const std::optional<T>& value) {
  return value ? of(*value) : "-";
}

template <class... T>
std::string of(const std::variant<T...>& value) {
  return std::visit([](const auto& held) { return of(held); }, value);
}

template <class T>
std::string of(const std::vector<T>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < kItemsShown; ++i) text += (i > 0 ? ", " : "") + of(list[i]);
  if (list.size() > kItemsShown) text += fmt::format(", and {} more", list.size() - kItemsShown);
  return "[" + text + "]";
}

/// Fields that are as they were made say nothing.
template <class T>
bool says_nothing(const T& value) {
  return encode(value) == encode(T{});
}
inline bool says_nothing(const OfferRef& value) { return value == nullptr; }

/// "a=1 b=x" without the braces that `of` puts around a struct in a struct.
template <codec::Described T>
std::string fields_of(const T& value) {
  std::string text;
  boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto member) {
    const auto& field = value.*member.pointer;
    if (!says_nothing(field)) text += fmt::format("{}{}={}", text.empty() ? "" : " ", member.name, of(field));
  });
  return text;
}

template <codec::Described T>
std::string of(const T& value) {
  return "{" + fields_of(value) + "}";
}

}  // namespace brief
}  // namespace abacus
