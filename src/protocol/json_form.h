// The JSON form of any described value, for people and scripts. Field names come from the struct; times, money and
// prices carry their unit in the name ("valid_for_ns", "budget_micro", "price_micro_per_s"); ids are hex texts.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "protocol/codec.h"

namespace abacus {
namespace json_form {

template <class T>
struct UnitSuffix {
  static constexpr const char* value = "";
};
template <>
struct UnitSuffix<Duration> {
  static constexpr const char* value = "_ns";
};
template <class Clock>
struct UnitSuffix<Instant<Clock>> {
  static constexpr const char* value = "_ns";
};
template <>
struct UnitSuffix<Money> {
  static constexpr const char* value = "_micro";
};
template <>
struct UnitSuffix<Price> {
  static constexpr const char* value = "_micro_per_s";
};
template <class T>
struct UnitSuffix<std::optional<T>> : UnitSuffix<T> {};

inline boost::json::value to(bool value) { return value; }
template <std::integral T>
boost::json::value to(T value) {
  return value;
}
template <class T>
requires std::is_enum_v<T> boost::json::value to(T value) { return boost::describe::enum_to_string(value, "unknown"); }
inline boost::json::value to(const std::string& value) { return boost::json::string(value); }
inline boost::json::value to(const Bytes& value) { return boost::json::string(to_hex(value)); }
template <std::size_t N>
boost::json::value to(const std::array<std::uint8_t, N>& value) {
  return boost::json::string(to_hex(value));
}
template <class Tag, std::size_t N>
boost::json::value to(const Id<Tag, N>& value) {
  return value.empty() ? boost::json::value(nullptr) : boost::json::value(boost::json::string(value.to_string()));
}
inline boost::json::value to(Duration value) { return value.ns; }
template <class Clock>
boost::json::value to(Instant<Clock> value) {
  return value.ns;
}
inline boost::json::value to(Money value) { return value.micro; }
inline boost::json::value to(Price value) { return value.micro_per_s; }
inline boost::json::value to(const TaskId& value) { return boost::json::string(value.to_string()); }
inline boost::json::value to(const AttemptId& value) { return boost::json::string(value.to_string()); }
inline boost::json::value to(const Endpoint& value) { return boost::json::string(value.to_string()); }
boost::json::value to(const OfferRef& value);
template <class T>
boost::json::value to(const std::vector<T>& list);
template <class T>
boost::json::value to(const std::optional<T>& value);
template <class... T>
boost::json::value to(const std::variant<T...>& value);
template <codec::Described T>
boost::json::value to(const T& value);

template <class T>
boost::json::value to(const std::vector<T>& list) {
  boost::json::array array;
  array.reserve(list.size());
  for (const T& item : list) array.push_back(to(item));
  return array;
}

template <class T>
boost::json::value to(const std::optional<T>& value) {
  return value ? to(*value) : boost::json::value(nullptr);
}

template <class... T>
boost::json::value to(const std::variant<T...>& value) {
  return std::visit([](const auto& held) { return to(held); }, value);
}

template <codec::Described T>
boost::json::value to(const T& value) {
  boost::json::object object;
  boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto member) {
    using Field = std::remove_cvref_t<decltype(value.*member.pointer)>;
    object[std::string(member.name) + UnitSuffix<Field>::value] = to(value.*member.pointer);
  });
  return object;
}

}  // namespace json_form

/// The JSON form of a described value.
template <class T>
boost::json::value to_json(const T& value) {
  return json_form::to(value);
}

}  // namespace abacus
