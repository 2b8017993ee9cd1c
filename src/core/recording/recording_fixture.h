// Random values of any described type, and recordings to try readers on.
#pragma once

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/prng.h"
#include "core/recording/entry.h"
#include "core/recording/frame.h"
#include "protocol/codec.h"

namespace abacus {

/// Fills values with random ones that are in their ranges, from one generator.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : prng_(seed) {}

  void fill(bool& value) { value = prng_.chance(1, 2); }
  template <std::integral T>
  void fill(T& value) {
    value = static_cast<T>(1 + prng_.below(99));
  }
  template <class T>
  requires std::is_enum_v<T>
  void fill(T& value) {
    constexpr auto kCount = boost::mp11::mp_size<boost::describe::describe_enumerators<T>>::value;
    value = static_cast<T>(prng_.below(kCount));
  }
  void fill(std::string& value) {
    value.assign(1 + prng_.below(12), 'a');
    for (char& c : value) c = static_cast<char>('a' + prng_.below(26));
  }
  template <std::size_t N>
  void fill(std::array<std::uint8_t, N>& value) {
    prng_.fill(value);
  }
  template <class Tag, std::size_t N>
  void fill(Id<Tag, N>& value) {
    prng_.fill(value.bytes);
  }
  void fill(TaskId& value) {
    fill(value.job);
    fill(value.index);
  }
  void fill(AttemptId& value) {
    fill(value.task);
    fill(value.number);
  }
  void fill(Endpoint& value) {
    fill(value.address);
    fill(value.port);
  }
  void fill(Duration& value) { value.ns = prng_.between(1, 1'000'000'000'000); }
  template <class Clock>
  void fill(Instant<Clock>& value) {
    value.ns = prng_.between(-1'000, 2'000'000'000'000'000'000);
  }
  void fill(Money& value) { value.micro = prng_.between(0, 1'000'000); }
  void fill(Price& value) { value.micro_per_s = prng_.between(0, 1'000'000); }
  void fill(ArraySpec& value) { value = {5, 5, 1, 0}; }
  void fill(OfferRef& value) {
    Signature signature{};
    fill(signature);
    value = make_signed_offer(encode(some<Offer>()), signature).value();
  }
  template <class T>
  void fill(std::vector<T>& value) {
    value.resize(1 + prng_.below(3));
    for (T& item : value) fill(item);
  }
  template <class T>
  void fill(std::optional<T>& value) {
    if (prng_.chance(2, 3)) fill(value.emplace());
  }
  template <class... T>
  void fill(std::variant<T...>& value) {
    boost::mp11::mp_with_index<sizeof...(T)>(prng_.below(sizeof...(T)),
                                             [&](auto index) { fill(value.template emplace<index.value>()); });
  }
  void fill(PricingConfig& value) {
    fill<PricingConfig>(value);
    value.target_permille = 900;
    value.gain_permille = 1'100;
    value.multiplier_min_permille = 400;
    value.multiplier_max_permille = 9'000;
    value.time_constant_min = seconds(2);
    value.time_constant_max = minutes(7);
  }
  template <codec::Described T>
  void fill(T& value) {
    boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto member) { fill(value.*member.pointer); });
  }

  template <class T>
  T some() {
    T value{};
    fill(value);
    return value;
  }

 private:
  Prng prng_;
};

/// A whole file of these contents.
inline Bytes file_of(const std::vector<Bytes>& contents) {
  Bytes file = recording_header("1.2.3");
  for (const Bytes& content : contents) append_entry_frame(file, content);
  return file;
}

}  // namespace abacus
