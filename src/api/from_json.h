// The inverse of protocol/json_form.h, for clients: any described value from its JSON form.
//
// Missing members keep their defaults and unknown ones are ignored, so that client and agent may differ in version.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "protocol/json_form.h"

namespace abacus {
namespace json_read {

inline Status mismatch(const char* wanted) { return fail(ErrorCode::corrupt, "not {}", wanted); }

inline Status from(const boost::json::value& json, bool& out) {
  if (!json.is_bool()) return mismatch("true or false");
  out = json.get_bool();
  return {};
}

template <std::integral T>
Status from(const boost::json::value& json, T& out) {
  boost::system::error_code error;
  T number = json.to_number<T>(error);
  if (error || json.is_double()) return mismatch("an integer in range");
  out = number;
  return {};
}

template <class T>
requires std::is_enum_v<T> Status from(const boost::json::value& json, T& out) {
  if (!json.is_string() || !boost::describe::enum_from_string(json.get_string().c_str(), out)) {
    return mismatch("a known name");
  }
  return {};
}

inline Status from(const boost::json::value& json, std::string& out) {
  if (!json.is_string()) return mismatch("a text");
  out = std::string(json.get_string());
  return {};
}

/// What is shown as a text and has a parse(text).
template <class T>
Status parsed(const boost::json::value& json, T& out) {
  if (!json.is_string()) return mismatch("a text");
  TRY(out, T::parse(std::string_view(json.get_string())));
  return {};
}

template <class Tag, std::size_t N>
Status from(const boost::json::value& json, Id<Tag, N>& out) {
  if (!json.is_null()) return parsed(json, out);
  out = {};
  return {};
}
inline Status from(const boost::json::value& json, TaskId& out) { return parsed(json, out); }
inline Status from(const boost::json::value& json, Endpoint& out) { return parsed(json, out); }
inline Status from(const boost::json::value& json, Duration& out) { return from(json, out.ns); }
template <class Clock>
Status from(const boost::json::value& json, Instant<Clock>& out) {
  return from(json, out.ns);
}
inline Status from(const boost::json::value& json, Money& out) { return from(json, out.micro); }
inline Status from(const boost::json::value& json, Price& out) { return from(json, out.micro_per_s); }
template <class T>
Status from(const boost::json::value& json, std::vector<T>& out);
template <class T>
Status from(const boost::json::value& json, std::optional<T>& out);
template <codec::Described T>
Status from(const boost::json::value& json, T& out);

template <class T>
Status from(const boost::json::value& json, std::vector<T>& out) {
  if (!json.is_array()) return mismatch("a list");
  out.clear();
  for (const boost::json::value& item : json.get_array()) {
    T value{};
    TRY_STATUS(from(item, value));
    out.push_back(std::move(value));
  }
  return {};
}

template <class T>
Status from(const boost::json::value& json, std::optional<T>& out) {
  out.reset();
  if (json.is_null()) return {};
  return from(json, out.emplace());
}

template <codec::Described T>
Status from(const boost::json::value& json, T& out) {
  if (!json.is_object()) return mismatch("an object");
  Status status;
  boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto member) {
    using Field = std::remove_cvref_t<decltype(out.*member.pointer)>;
    std::string name = std::string(member.name) + json_form::UnitSuffix<Field>::value;
    const boost::json::value* value = status ? json.get_object().if_contains(name) : nullptr;
    if (!value) return;
    if (Status read = from(*value, out.*member.pointer); !read) status = fail(read.error().in(name));
  });
  return status;
}

}  // namespace json_read

/// Errors: `corrupt`, with the path of the member that is not what it should be.
template <class T>
Result<T> from_json(const boost::json::value& json) {
  T value{};
  TRY_STATUS(json_read::from(json, value));
  return value;
}

}  // namespace abacus
