// Reading and writing of the leaf types; the structs around them are templates in the header.
#include "protocol/codec.h"

#include <algorithm>

namespace abacus {
namespace codec {

void write(CborWriter& out, const TaskId& value) {
  out.array(2);
  write(out, value.job);
  write(out, value.index);
}

void write(CborWriter& out, const AttemptId& value) {
  out.array(3);
  write(out, value.task.job);
  write(out, value.task.index);
  write(out, value.number);
}

void write(CborWriter& out, const Endpoint& value) {
  out.array(2);
  write(out, value.address);
  write(out, value.port);
}

void write(CborWriter& out, const OfferRef& value) {
  out.array(2);
  write(out, value->payload);
  write(out, value->signature);
}

Status read(CborReader& in, bool& value, int) {
  TRY(value, in.boolean());
  return {};
}

Status read(CborReader& in, std::string& value, int) {
  TRY(std::string_view text, in.text());
  value = text;
  return {};
}

Status read(CborReader& in, Bytes& value, int) {
  TRY(BytesView bytes, in.bytes());
  value.assign(bytes.begin(), bytes.end());
  return {};
}

Status read_exactly(CborReader& in, std::uint8_t* to, std::size_t size) {
  TRY(BytesView bytes, in.bytes());
  if (bytes.size() != size) return fail(ErrorCode::corrupt, "{} bytes where {} belong", bytes.size(), size);
  std::copy(bytes.begin(), bytes.end(), to);
  return {};
}

Status read(CborReader& in, Duration& value, int nesting) {
  TRY_STATUS(read(in, value.ns, nesting));
  if (value.ns < 0 || value.ns > limits::kMaxDurationNs) {
    return fail(ErrorCode::invalid, "duration of {} ns is out of range", value.ns);
  }
  return {};
}

Status read(CborReader& in, Money& value, int nesting) {
  TRY_STATUS(read(in, value.micro, nesting));
  if (value.micro < -limits::kMaxMoneyMicro || value.micro > limits::kMaxMoneyMicro) {
    return fail(ErrorCode::invalid, "amount of {} micro-credits is out of range", value.micro);
  }
  return {};
}

Status read(CborReader& in, Price& value, int nesting) {
  constexpr std::int64_t kMax = limits::kMaxMoneyMicro / 1'000'000;
  TRY_STATUS(read(in, value.micro_per_s, nesting));
  if (value.micro_per_s < -kMax || value.micro_per_s > kMax) {
    return fail(ErrorCode::invalid, "price of {} micro-credits a second is out of range", value.micro_per_s);
  }
  return {};
}

namespace {

Status want_array(CborReader& in, std::size_t size) {
  TRY(std::size_t count, in.array());
  if (count != size) return fail(ErrorCode::corrupt, "array of {} where {} belong", count, size);
  return {};
}

}  // namespace

Status read(CborReader& in, TaskId& value, int nesting) {
  TRY_STATUS(want_array(in, 2));
  TRY_STATUS(read(in, value.job, nesting));
  return read(in, value.index, nesting);
}

Status read(CborReader& in, AttemptId& value, int nesting) {
  TRY_STATUS(want_array(in, 3));
  TRY_STATUS(read(in, value.task.job, nesting));
  TRY_STATUS(read(in, value.task.index, nesting));
  return read(in, value.number, nesting);
}

Status read(CborReader& in, Endpoint& value, int nesting) {
  TRY_STATUS(want_array(in, 2));
  TRY_STATUS(read(in, value.address, nesting));
  return read(in, value.port, nesting);
}

Status read(CborReader& in, OfferRef& value, int nesting) {
  TRY_STATUS(want_array(in, 2));
  Bytes payload;
  Signature signature{};
  TRY_STATUS(read(in, payload, nesting));
  TRY_STATUS(read(in, signature, nesting));
  TRY(value, make_signed_offer(std::move(payload), signature));
  return {};
}

}  // namespace codec

Bytes encode_envelope(const Envelope& envelope) { return encode(envelope); }

Result<Envelope> decode_envelope(BytesView bytes) {
  if (bytes.size() > limits::kMessageBytes) {
    return fail(ErrorCode::exhausted, "message of {} bytes, the limit is {}", bytes.size(), limits::kMessageBytes);
  }
  return decode<Envelope>(bytes);
}

Result<OfferRef> make_signed_offer(Bytes payload, const Signature& signature) {
  TRY(Offer offer, decode<Offer>(payload));
  return std::make_shared<const SignedOffer>(SignedOffer{std::move(offer), std::move(payload), signature});
}

const char* name_of(const Message& message) {
  return std::visit(
      []<class T>(const T&) -> const char* {
        // The described name of the type is not to be had from Boost.Describe, so the list stands here in wire order.
        static constexpr const char* kNames[] = {
            "Join",    "ForwardJoin", "NeighbourRequest", "NeighbourReply", "Disconnect", "Shuffle", "ShuffleReply",
            "Ping",    "PingAck",     "PingRequest",      "PingRelay",      "Rfq",        "Quote",   "Decline",
            "Award",   "Accept",      "Refuse",           "CallBack",       "Start",      "Started", "Done",
            "DoneAck", "Interrupt",   "LeaseBeat",        "LeaseReport",    "Renew",      "Renewed", "Release",
            "Receipt", "ReceiptAck"};
        static_assert(std::size(kNames) == std::variant_size_v<Message>);
        return kNames[boost::mp11::mp_find<Message, T>::value];
      },
      message);
}

}  // namespace abacus
