// Structs to deterministic CBOR and back, from the one list of fields that each struct gives to Boost.Describe.
//
// A struct is an array of its fields in order. New fields are appended with a default: a shorter array leaves the
// defaults (which must be valid), further unknown fields are passed over. A variant is [position, value]; an optional
// is the value or null; ids and keys are byte strings; times and money are integers.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/endpoint.h"
#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "protocol/cbor.h"
#include "protocol/limits.h"
#include "protocol/message.h"

namespace abacus {
namespace codec {

namespace describe = boost::describe;
namespace mp11 = boost::mp11;

template <class T>
concept Described = describe::has_describe_members<T>::value && !std::is_union_v<T>;

template <class T>
using MembersOf = describe::describe_members<T, describe::mod_any_access>;

/// Types with a range to keep say so with a `Status validate(const T&)` beside them.
template <class T>
concept Validated = requires(const T& value) {
  { validate(value) } -> std::same_as<Status>;
};

// ---- writing -------------------------------------------------------------------------------------------------------

inline void write(CborWriter& out, bool value) { out.boolean(value); }
template <std::unsigned_integral T>
void write(CborWriter& out, T value) {
  out.unsigned_integer(value);
}
template <std::signed_integral T>
void write(CborWriter& out, T value) {
  out.integer(value);
}
template <class T>
requires std::is_enum_v<T>
void write(CborWriter& out, T value) { out.unsigned_integer(static_cast<std::uint64_t>(value)); }
inline void write(CborWriter& out, const std::string& value) { out.text(value); }
inline void write(CborWriter& out, const Bytes& value) { out.bytes(value); }
template <std::size_t N>
void write(CborWriter& out, const std::array<std::uint8_t, N>& value) {
  out.bytes(value);
}
template <class Tag, std::size_t N>
void write(CborWriter& out, const Id<Tag, N>& value) {
  out.bytes(value.bytes);
}
inline void write(CborWriter& out, Duration value) { out.integer(value.ns); }
template <class Clock>
void write(CborWriter& out, Instant<Clock> value) {
  out.integer(value.ns);
}
inline void write(CborWriter& out, Money value) { out.integer(value.micro); }
inline void write(CborWriter& out, Price value) { out.integer(value.micro_per_s); }
void write(CborWriter& out, const TaskId& value);
void write(CborWriter& out, const AttemptId& value);
void write(CborWriter& out, const Endpoint& value);
void write(CborWriter& out, const OfferRef& value);
template <class T>
void write(CborWriter& out, const std::vector<T>& list);
template <class T>
void write(CborWriter& out, const std::optional<T>& value);
template <class... T>
void write(CborWriter& out, const std::variant<T...>& value);
template <Described T>
void write(CborWriter& out, const T& value);

template <class T>
void write(CborWriter& out, const std::vector<T>& list) {
  out.array(list.size());
  for (const T& item : list) write(out, item);
}

template <class T>
void write(CborWriter& out, const std::optional<T>& value) {
  if (value) {
    write(out, *value);
  } else {
    out.null();
  }
}

template <class... T>
void write(CborWriter& out, const std::variant<T...>& value) {
  out.array(2);
  out.unsigned_integer(value.index());
  std::visit([&](const auto& held) { write(out, held); }, value);
}

template <Described T>
void write(CborWriter& out, const T& value) {
  out.array(mp11::mp_size<MembersOf<T>>::value);
  mp11::mp_for_each<MembersOf<T>>([&](auto member) { write(out, value.*member.pointer); });
}

// ---- defaults ------------------------------------------------------------------------------------------------------

/// Of a field that is left out: is its default one that could have been sent? Else leaving it out would evade the
/// check.
template <class T>
Status check_default(const T& value);

template <class T>
struct DefaultCheck {
  static Status of(const T& value) {
    Status status;
    if constexpr (Described<T>) {
      mp11::mp_for_each<MembersOf<T>>([&](auto member) {
        if (!status) return;
        status = check_default(value.*member.pointer);
        if (!status) status = fail(status.error().in(member.name));
      });
    }
    if constexpr (Validated<T>) {
      if (status) status = validate(value);
    }
    return status;
  }
};

template <class... T>
struct DefaultCheck<std::variant<T...>> {
  static Status of(const std::variant<T...>& value) {
    return std::visit([](const auto& held) { return check_default(held); }, value);
  }
};

template <class T>
Status check_default(const T& value) {
  return DefaultCheck<T>::of(value);
}

// ---- reading -------------------------------------------------------------------------------------------------------

Status read(CborReader& in, bool& value, int nesting);
template <std::unsigned_integral T>
Status read(CborReader& in, T& value, int) {
  TRY(std::uint64_t wide, in.unsigned_integer());
  if (wide > std::numeric_limits<T>::max()) return fail(ErrorCode::corrupt, "{} is out of range", wide);
  value = static_cast<T>(wide);
  return {};
}
template <std::signed_integral T>
Status read(CborReader& in, T& value, int) {
  TRY(std::int64_t wide, in.integer());
  if (wide > std::numeric_limits<T>::max() || wide < std::numeric_limits<T>::min()) {
    return fail(ErrorCode::corrupt, "{} is out of range", wide);
  }
  value = static_cast<T>(wide);
  return {};
}
template <class T>
requires std::is_enum_v<T> Status read(CborReader& in, T& value, int) {
  TRY(std::uint64_t wide, in.unsigned_integer());
  bool known = false;
  mp11::mp_for_each<describe::describe_enumerators<T>>([&](auto enumerator) {
    if (static_cast<std::uint64_t>(enumerator.value) == wide) known = true;
  });
  if (!known) return fail(ErrorCode::corrupt, "{} is no value of this enumeration", wide);
  value = static_cast<T>(wide);
  return {};
}
Status read(CborReader& in, std::string& value, int nesting);
Status read(CborReader& in, Bytes& value, int nesting);
Status read_exactly(CborReader& in, std::uint8_t* to, std::size_t size);
template <std::size_t N>
Status read(CborReader& in, std::array<std::uint8_t, N>& value, int) {
  return read_exactly(in, value.data(), N);
}
template <class Tag, std::size_t N>
Status read(CborReader& in, Id<Tag, N>& value, int) {
  return read_exactly(in, value.bytes.data(), N);
}
Status read(CborReader& in, Duration& value, int nesting);
template <class Clock>
Status read(CborReader& in, Instant<Clock>& value, int nesting) {
  TRY_STATUS(read(in, value.ns, nesting));
  if (value.ns < 0 || value.ns > limits::kMaxInstantNs) {
    return fail(ErrorCode::invalid, "a time {} ns after 1970 is out of range", value.ns);
  }
  return {};
}
Status read(CborReader& in, Money& value, int nesting);
Status read(CborReader& in, Price& value, int nesting);
Status read(CborReader& in, TaskId& value, int nesting);
Status read(CborReader& in, AttemptId& value, int nesting);
Status read(CborReader& in, Endpoint& value, int nesting);
Status read(CborReader& in, OfferRef& value, int nesting);
template <class T>
Status read(CborReader& in, std::vector<T>& list, int nesting);
template <class T>
Status read(CborReader& in, std::optional<T>& value, int nesting);
template <class... T>
Status read(CborReader& in, std::variant<T...>& value, int nesting);
template <Described T>
Status read(CborReader& in, T& value, int nesting);

template <class T>
Status read(CborReader& in, std::vector<T>& list, int nesting) {
  if (nesting <= 0) return fail(ErrorCode::exhausted, "nested deeper than {} levels", limits::kNesting);
  TRY(std::size_t count, in.array());
  // Every item takes a byte at least, so a short input cannot make a long list be allocated.
  if (count > in.rest().size()) return fail(ErrorCode::corrupt, "byte {}: the list is cut short", in.position());
  list.clear();
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) TRY_STATUS(read(in, list.emplace_back(), nesting - 1));
  return {};
}

template <class T>
Status read(CborReader& in, std::optional<T>& value, int nesting) {
  TRY(bool absent, in.take_null());
  if (absent) {
    value.reset();
    return {};
  }
  return read(in, value.emplace(), nesting);
}

template <class... T>
Status read(CborReader& in, std::variant<T...>& value, int nesting) {
  if (nesting <= 0) return fail(ErrorCode::exhausted, "nested deeper than {} levels", limits::kNesting);
  TRY(std::size_t parts, in.array());
  TRY(std::uint64_t position, in.unsigned_integer());
  if (parts != 2 || position >= sizeof...(T)) return fail(ErrorCode::unsupported, "unknown alternative {}", position);
  return mp11::mp_with_index<sizeof...(T)>(static_cast<std::size_t>(position), [&](auto index) -> Status {
    return read(in, value.template emplace<index.value>(), nesting - 1);
  });
}

template <Described T>
Status read(CborReader& in, T& value, int nesting) {
  if (nesting <= 0) return fail(ErrorCode::exhausted, "nested deeper than {} levels", limits::kNesting);
  TRY(std::size_t present, in.array());
  std::size_t taken = 0;
  Status status;
  mp11::mp_for_each<MembersOf<T>>([&](auto member) {
    if (!status) return;
    if (taken < present) {
      ++taken;
      status = read(in, value.*member.pointer, nesting - 1);
    } else {
      status = check_default(value.*member.pointer);
    }
    if (!status) status = fail(status.error().in(member.name));
  });
  TRY_STATUS(status);
  for (; taken < present; ++taken) TRY_STATUS(in.skip(nesting - 1));
  if constexpr (Validated<T>) return validate(value);
  return {};
}

}  // namespace codec

/// Appends the encoding of any described value.
template <class T>
void encode_to(Bytes& out, const T& value) {
  CborWriter writer(out);
  codec::write(writer, value);
}

template <class T>
Bytes encode(const T& value) {
  Bytes out;
  encode_to(out, value);
  return out;
}

/// Inverse of encode, for bytes from anywhere. Errors: `corrupt` (not this type, or bytes left over), `exhausted` (a
/// limit), `invalid` (a value out of its range), `unsupported` (a message this version does not know).
template <class T>
Result<T> decode(BytesView bytes, CborLimits item_limits = {}) {
  CborReader reader(bytes, item_limits);
  T value{};
  TRY_STATUS(codec::read(reader, value, limits::kNesting));
  if (!reader.at_end()) return fail(ErrorCode::corrupt, "byte {}: bytes left over", reader.position());
  return value;
}

/// The codec of the wire, compiled once.
Bytes encode_envelope(const Envelope& envelope);
Result<Envelope> decode_envelope(BytesView bytes);

}  // namespace abacus
