// The wire: what is written is read again, only the deterministic form is accepted, old and new versions understand
// each other, and nothing out of range gets through.
#include "protocol/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "protocol/json_form.h"

namespace abacus {
namespace {

using ::testing::HasSubstr;

Offer some_offer() {
  Offer offer;
  offer.contact.node.bytes[0] = 7;
  offer.contact.endpoint = Endpoint::parse("127.0.0.1:7411").value();
  offer.sequence = 3;
  offer.region = "north";
  offer.capacity.cpu_milli = 4'000;
  offer.capacity.devices = {{"gpu", "a100", 2, 40ull << 30, false}};
  return offer;
}

Quote some_quote() {
  Quote quote;
  quote.negotiation = 9;
  quote.lots = {{3, Price{100}, Money{-5}, milliseconds(3)}, {9, Price{140}, {}, {}}};
  quote.valid_for = seconds(1);
  return quote;
}

template <class T>
void expect_round_trip(const T& value) {
  Bytes bytes = encode_envelope({value, {}});
  auto back = decode_envelope(bytes);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(std::holds_alternative<T>(back->message));
  EXPECT_EQ(encode_envelope(*back), bytes);
}

TEST(Codec, EveryMessageSurvives) {
  OfferRef offer = make_signed_offer(encode(some_offer()), {}).value();
  Award award;
  award.slots = 2;
  award.work.command = {"echo", "hi"};
  award.attempts = {{{{}, 1}, 1}, {{{}, 2}, 1}};
  Receipt receipt;
  receipt.slots = 1;
  expect_round_trip(Join{});
  expect_round_trip(ForwardJoin{});
  expect_round_trip(NeighbourRequest{});
  expect_round_trip(NeighbourReply{true});
  expect_round_trip(Disconnect{});
  expect_round_trip(Shuffle{1, {offer, offer}});
  expect_round_trip(ShuffleReply{1, {offer}});
  expect_round_trip(Ping{1, {{{}, Liveness::suspect, 4}}});
  expect_round_trip(PingAck{});
  expect_round_trip(PingRequest{});
  expect_round_trip(PingRelay{});
  expect_round_trip(Rfq{});
  expect_round_trip(some_quote());
  expect_round_trip(Decline{1, 1, {DeclineReason::never_fits, {{"gpu", 1, 0}}, Price{5}, 0, {}}, {offer}});
  expect_round_trip(award);
  expect_round_trip(Accept{{}, 2, seconds(60)});
  expect_round_trip(Refuse{{}, {}, some_quote()});
  expect_round_trip(CallBack{some_quote()});
  expect_round_trip(Start{{}, {{{{}, 1}, 1}}});
  expect_round_trip(Started{});
  expect_round_trip(Done{});
  expect_round_trip(DoneAck{});
  expect_round_trip(Interrupt{});
  expect_round_trip(LeaseBeat{});
  expect_round_trip(LeaseReport{{}, true, {{{}, AttemptState::running}}});
  expect_round_trip(Renew{{}, seconds(1)});
  expect_round_trip(Renewed{});
  expect_round_trip(Release{});
  expect_round_trip(receipt);
  expect_round_trip(ReceiptAck{});
}

/// A struct of yesterday, and what became of it.
struct Older {
  std::uint32_t count = 0;
};
BOOST_DESCRIBE_STRUCT(Older, (), (count))
struct Newer {
  std::uint32_t count = 0;
  std::string note = "none";
  std::vector<std::uint32_t> more;
};
BOOST_DESCRIBE_STRUCT(Newer, (), (count, note, more))

TEST(Codec, OldAndNewVersionsUnderstandEachOther) {
  auto by_newer = decode<Newer>(encode(Older{5}));
  ASSERT_TRUE(by_newer.has_value());
  EXPECT_EQ(by_newer->count, 5u);
  EXPECT_EQ(by_newer->note, "none");
  auto by_older = decode<Older>(encode(Newer{6, "hello", {1, 2}}));
  ASSERT_TRUE(by_older.has_value());
  EXPECT_EQ(by_older->count, 6u);
}

TEST(Codec, OnlyTheDeterministicFormIsAccepted) {
  EXPECT_EQ(encode(Older{5}), (Bytes{0x81, 0x05}));
  EXPECT_TRUE(decode<Older>(Bytes{0x81, 0x05}).has_value());
  for (const Bytes& wrong : {Bytes{0x81, 0x18, 0x05}, Bytes{0x9f, 0x05, 0xff}, Bytes{0x98, 0x01, 0x05}, Bytes{0x81},
                             Bytes{}, Bytes{0x81, 0x05, 0x00}, Bytes{0x81, 0xfb, 0, 0, 0, 0, 0, 0, 0, 0}}) {
    EXPECT_FALSE(decode<Older>(wrong).has_value()) << to_hex(wrong);
  }
}

TEST(Codec, SaysWhichFieldIsWrong) {
  Quote quote = some_quote();
  quote.lots[1].count = 0;
  auto refused = decode_envelope(encode_envelope({quote, {}}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("lots"));
  EXPECT_THAT(refused.error().message, HasSubstr("0 slots"));
}

TEST(Codec, KeepsValuesInTheirRanges) {
  Rfq rfq;
  rfq.lease_time = Duration{-1};
  EXPECT_FALSE(decode_envelope(encode_envelope({rfq, {}})).has_value());
  rfq = {};
  rfq.price_limit = Price{INT64_MAX};
  EXPECT_FALSE(decode_envelope(encode_envelope({rfq, {}})).has_value());
  rfq = {};
  rfq.region = std::string(1'000, 'x');
  EXPECT_FALSE(decode_envelope(encode_envelope({rfq, {}})).has_value());
  for (WallTime at : {WallTime{-1}, WallTime{limits::kMaxInstantNs + 1}, WallTime{INT64_MAX}}) {
    EXPECT_FALSE(decode_envelope(encode_envelope({Started{{}, {}, at}, {}})).has_value()) << at.ns;
  }
  Bytes unknown_message = encode_envelope({Join{}, {}});
  unknown_message[2] = 0x18;  // A position past the list.
  EXPECT_FALSE(decode_envelope(unknown_message).has_value());
  EXPECT_FALSE(decode_envelope(Bytes(limits::kMessageBytes + 1)).has_value());
}

TEST(Codec, LeavingAFieldOutDoesNotEvadeItsCheck) {
  auto award = decode<Award>(Bytes{0x80});  // Its work would have no command.
  ASSERT_FALSE(award.has_value());
  EXPECT_EQ(award.error().code, ErrorCode::invalid);
  EXPECT_THAT(award.error().message, HasSubstr("no command"));
  for (std::uint8_t kind = 0; kind < std::variant_size_v<Message>; ++kind) {
    Bytes bytes{0x81, 0x82};
    if (kind >= 24) bytes.push_back(0x18);
    bytes.insert(bytes.end(), {kind, 0x80});
    auto bare = decode_envelope(bytes);
    EXPECT_TRUE(!bare || decode_envelope(encode_envelope(*bare)).has_value()) << "message " << int{kind};
  }
}

TEST(Codec, NestingIsBounded) {
  Bytes deep(1'000, 0x81);
  EXPECT_FALSE(decode_envelope(deep).has_value());
  Bytes deep_in_unknown_field{0x82, 0x05};
  deep_in_unknown_field.insert(deep_in_unknown_field.end(), 1'000, 0x81);
  EXPECT_FALSE(decode<Older>(deep_in_unknown_field).has_value());
}

TEST(Codec, AnOfferKeepsTheBytesThatWereSigned) {
  Bytes payload = encode(some_offer());
  Signature signature{};
  signature[5] = 9;
  Bytes bytes = encode_envelope({Shuffle{1, {make_signed_offer(payload, signature).value()}}, {}});
  auto back = decode_envelope(bytes);
  ASSERT_TRUE(back.has_value());
  const OfferRef& offer = std::get<Shuffle>(back->message).offers.front();
  EXPECT_EQ(offer->payload, payload);
  EXPECT_EQ(offer->signature, signature);
  EXPECT_EQ(offer->offer, some_offer());
}

RC_GTEST_PROP(Codec, NumbersAndTextsSurvive, (std::uint32_t count, std::string note, std::vector<std::uint32_t> more)) {
  auto back = decode<Newer>(encode(Newer{count, note, more}));
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->count == count);
  RC_ASSERT(back->note == note);
  RC_ASSERT(back->more == more);
}

RC_GTEST_PROP(Codec, AnyBytesAreRefusedOrRead, (std::vector<std::uint8_t> bytes)) {
  auto read = decode_envelope(bytes);
  if (read) RC_ASSERT(decode_envelope(encode_envelope(*read)).has_value());
}

TEST(JsonForm, UnitsStandInTheNames) {
  boost::json::value json = to_json(some_quote());
  EXPECT_EQ(json.at("valid_for_ns").as_int64(), 1'000'000'000);
  EXPECT_EQ(json.at("lots").at(0).at("price_micro_per_s").as_int64(), 100);
  EXPECT_EQ(json.at("lots").at(0).at("fee_micro").as_int64(), -5);
}

}  // namespace
}  // namespace abacus
