// Every kind of event survives a recording, and no field of what a node is made of is left out of one.
#include "core/recording/entry.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/model/effects.h"
#include "core/recording/recording_fixture.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

/// Stands for a value of any type in a list of initialisers.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

/// How many fields an aggregate has, described or not.
template <class T, class... Given>
constexpr std::size_t field_count() {
  if constexpr (requires { T{Given{}..., Anything{}}; }) {
    return field_count<T, Given..., Anything>();
  } else {
    return sizeof...(Given);
  }
}

template <class T>
constexpr bool all_described() {
  return field_count<T>() == boost::mp11::mp_size<codec::MembersOf<T>>::value;
}

struct Half {
  int told = 0;
  int kept = 0;
};
BOOST_DESCRIBE_STRUCT(Half, (), (told))
static_assert(!all_described<Half>(), "the check must notice a field that is not described");

static_assert(all_described<NodeConfig>());
static_assert(all_described<OverlayConfig>() && all_described<ViewsConfig>() && all_described<OfferCacheConfig>());
static_assert(all_described<IntakeConfig>() && all_described<OwnOfferConfig>() && all_described<ShuffleConfig>());
static_assert(all_described<DetectorConfig>() && all_described<RoundTripConfig>());
static_assert(all_described<PricingConfig>() && all_described<DeviceRate>());
static_assert(all_described<SellingConfig>() && all_described<BuyingConfig>());

template <class... T>
constexpr bool each_described(const std::variant<T...>*) {
  return (all_described<T>() && ...);
}
static_assert(each_described(static_cast<Event*>(nullptr)));
static_assert(each_described(static_cast<Effect*>(nullptr)));
static_assert(each_described(static_cast<Record*>(nullptr)));
static_assert(each_described(static_cast<Message*>(nullptr)));

/// Equal encodings: the structs are known to be described completely.
void expect_survives(const Entry& entry) {
  Bytes bytes = encode_entry(entry);
  auto back = decode_entry(bytes);
  if (!back) RC_FAIL(back.error().message);
  RC_ASSERT(back->index() == entry.index());
  RC_ASSERT(encode_entry(*back) == bytes);
}

/// Whichever kind of event, by turns.
template <std::size_t... I>
std::vector<Event> one_of_each(RandomValues& random, std::index_sequence<I...>) {
  std::vector<Event> events;
  (events.emplace_back(std::in_place_index<I>, random.some<std::variant_alternative_t<I, Event>>()), ...);
  return events;
}

RC_GTEST_PROP(Entries, EveryKindOfEventSurvives, ()) {
  RandomValues random(*rc::gen::arbitrary<std::uint64_t>());
  for (Event& event : one_of_each(random, std::make_index_sequence<std::variant_size_v<Event>>{})) {
    expect_survives(EventHandled{MonoTime{limits::kMaxInstantNs}, WallTime{7}, ~0ull, std::move(event)});
  }
}

RC_GTEST_PROP(Entries, EveryRecordAndConfigurationSurvives, ()) {
  RandomValues random(*rc::gen::arbitrary<std::uint64_t>());
  expect_survives(RecordRestored{random.some<Record>()});
  expect_survives(random.some<NodeMade>());
}

RC_GTEST_PROP(Entries, WhatIsWrittenWithoutCopiesIsTheSame, ()) {
  RandomValues random(*rc::gen::arbitrary<std::uint64_t>());
  EventHandled handled = random.some<EventHandled>();
  Bytes out;
  encode_event_entry(out, handled.event, {handled.mono, handled.wall}, handled.digest);
  RC_ASSERT(out == encode_entry(handled));
  RecordRestored restored = random.some<RecordRestored>();
  out.clear();
  encode_record_entry(out, restored.record);
  RC_ASSERT(out == encode_entry(restored));
}

RC_GTEST_PROP(Entries, CutOrForeignBytesAreRefusedAndHarmless, ()) {
  RandomValues random(*rc::gen::arbitrary<std::uint64_t>());
  Bytes bytes = encode_entry(random.some<EventHandled>());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) RC_ASSERT(!decode_entry(BytesView(bytes).first(cut)));
}

}  // namespace
}  // namespace abacus
