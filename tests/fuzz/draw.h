// Values of any described type, drawn from the fuzzer's bytes: often what was heard in the conversation, else extremes.
#pragma once

#include <deque>
#include <limits>
#include <string>
#include <tuple>

#include "base/ids.h"
#include "protocol/codec.h"

namespace abacus::fuzz {

/// The input, byte by byte; zeros after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::size_t below(std::size_t bound) { return byte() % bound; }

 private:
  BytesView rest_;
};

/// What is worth saying again.
using Words = boost::mp11::mp_list<NodeId, OrgId, LeaseId, JobId, Digest, AttemptId, std::uint64_t, OfferRef>;
template <class T>
concept Word = boost::mp11::mp_contains<Words, T>::value;

/// Ids and numbers that somebody said: forged messages that name nothing known are turned away at the door.
class Heard {
 public:
  template <class T>
  void learn(const T& value) {
    if constexpr (codec::Described<T>) {
      boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto member) { learn(value.*member.pointer); });
    }
  }
  template <Word T>
  void learn(const T& value) {
    auto& pool = std::get<std::deque<T>>(pools_);
    pool.push_back(value);
    if (pool.size() > kKept) pool.pop_front();
    if constexpr (std::is_same_v<T, AttemptId>) learn(value.task.job);
  }
  template <class T>
  void learn(const std::vector<T>& list) {
    for (const T& item : list) learn(item);
  }
  template <class T>
  void learn(const std::optional<T>& value) {
    if (value) learn(*value);
  }
  template <class... T>
  void learn(const std::variant<T...>& value) {
    std::visit([&](const auto& held) { learn(held); }, value);
  }

  template <Word T>
  const std::deque<T>& of() const {
    return std::get<std::deque<T>>(pools_);
  }

 private:
  static constexpr std::size_t kKept = 24;

  boost::mp11::mp_rename<boost::mp11::mp_transform<std::deque, Words>, std::tuple> pools_;
};

class Draw {
 public:
  Draw(Input& input, const Heard& heard, Now now) : in_(input), heard_(heard), now_(now) {}

  /// A byte of zero leaves anything as it is, so that sparse inputs make plain values.
  void fill(bool& value) { value = pick(value, {false, true}); }
  template <std::integral T>
  void fill(T& value) {
    const auto& numbers = heard_.of<std::uint64_t>();
    const std::uint8_t choice = in_.byte();
    using Limits = std::numeric_limits<T>;
    if (choice >= 128 && !numbers.empty()) {
      value = static_cast<T>(numbers[numbers.size() - 1 - (choice - 128u) % numbers.size()]);
    } else if (choice >= 124) {
      value = static_cast<T>(choice % 2 == 0 ? Limits::max() : Limits::min());
    } else if (choice > 0) {
      value = static_cast<T>(choice - 1);
    }
  }
  template <class T>
  requires std::is_enum_v<T>
  void fill(T& value) {
    const std::uint8_t choice = in_.byte();
    std::size_t position = 0;
    using All = boost::describe::describe_enumerators<T>;
    boost::mp11::mp_for_each<All>([&](auto one) {
      if (choice > 0 && position++ == (choice - 1u) % boost::mp11::mp_size<All>::value) value = one.value;
    });
  }
  void fill(Duration& value) {
    value = pick(value, {Duration{},
                         nanoseconds(1),
                         milliseconds(1),
                         milliseconds(100),
                         seconds(1),
                         seconds(10),
                         minutes(1),
                         minutes(10),
                         hours(1),
                         hours(24),
                         hours(24 * 365),
                         {limits::kMaxDurationNs}});
  }
  template <class Clock>
  void fill(Instant<Clock>& value) {
    std::int64_t now = std::is_same_v<Instant<Clock>, WallTime> ? now_.wall.ns : now_.mono.ns;
    value = pick(value, {Instant<Clock>{},
                         {1},
                         {now},
                         {now - seconds(1).ns},
                         {now + seconds(1).ns},
                         {now + hours(1).ns},
                         {now - hours(24).ns},
                         {INT64_MAX},
                         {INT64_MIN},
                         {limits::kMaxInstantNs}});
  }
  void fill(Money& value) {
    value = pick(value, {Money{}, {1}, {1'000'000}, {-1}, {limits::kMaxMoneyMicro}, {-limits::kMaxMoneyMicro}});
  }
  void fill(Price& value) {
    constexpr std::int64_t kMost = limits::kMaxMoneyMicro / 1'000'000;
    value = pick(value, {Price{}, {1}, {10'000}, {1'000'000}, {-1}, {kMost}, {-kMost}});
  }
  void fill(std::string& value) {
    value = pick(value, {std::string(), std::string("here"), std::string("there"), std::string("gpu"),
                         std::string(64, 'x'), std::string(65, 'y')});
  }
  void fill(Bytes& value) { value = pick(value, {Bytes{}, Bytes{1}, Bytes(64, 7)}); }
  template <std::size_t N>
  void fill(std::array<std::uint8_t, N>& value) {
    value.fill(in_.byte());
  }
  template <class Tag, std::size_t N>
  void fill(Id<Tag, N>& value) {
    if constexpr (Word<Id<Tag, N>>) {
      if (from_heard(value)) return;
    }
    value.bytes[0] = in_.byte();
  }
  void fill(TaskId& value) {
    fill(value.job);
    fill(value.index);
  }
  void fill(AttemptId& value) {
    if (from_heard(value)) return;
    fill(value.task);
    fill(value.number);
  }
  void fill(Endpoint& value) { value = pick(value, {Endpoint{}, Endpoint{{1}, 7}, Endpoint{{2}, 7}}); }
  void fill(OfferRef& value) {
    if (from_heard(value) && value) return;
    Offer offer;
    fill(offer);
    if (offer.contact.node.empty()) offer.contact.node.bytes[0] = 9;
    auto made = make_signed_offer(encode(offer), {});
    if (!made) {
      Offer bare;
      bare.contact.node.bytes[0] = 9;
      made = make_signed_offer(encode(bare), {});
    }
    value = *made;
  }
  template <class T>
  void fill(std::vector<T>& list) {
    const std::uint8_t choice = in_.byte();
    if (choice == 0) return;
    list.resize((choice - 1u) % 4);
    for (T& item : list) fill(item);
  }
  template <class T>
  void fill(std::optional<T>& value) {
    const std::uint8_t choice = in_.byte();
    if (choice == 0) return;
    value.reset();
    if (choice % 2 == 0) fill(value.emplace());
  }
  template <class... T>
  void fill(std::variant<T...>& value) {
    boost::mp11::mp_with_index<sizeof...(T)>(in_.below(sizeof...(T)),
                                             [&](auto index) { fill(value.template emplace<index.value>()); });
  }
  template <codec::Described T>
  void fill(T& value) {
    boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto member) { fill(value.*member.pointer); });
  }
  /// One member of the message anew.
  void spoil(Message& message) {
    std::visit(
        [&]<class M>(M& m) {
          std::size_t chosen = in_.byte(), position = 0;
          boost::mp11::mp_for_each<codec::MembersOf<M>>([&](auto member) {
            if (position++ == chosen % boost::mp11::mp_size<codec::MembersOf<M>>::value) fill(m.*member.pointer);
          });
        },
        message);
  }

 private:
  template <class T>
  T pick(const T& as_it_is, std::initializer_list<T> others) {
    const std::size_t choice = in_.byte() % (others.size() + 1);
    return choice == 0 ? as_it_is : others.begin()[choice - 1];
  }
  template <class T>
  bool from_heard(T& value) {
    const auto& pool = heard_.of<T>();
    const std::uint8_t choice = in_.byte();
    if (choice == 0) return true;
    if (pool.empty() || choice > 240) return false;
    value = pool[pool.size() - 1 - (choice - 1u) % pool.size()];
    return true;
  }

  Input& in_;
  const Heard& heard_;
  Now now_;
};

}  // namespace abacus::fuzz
