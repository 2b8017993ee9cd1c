// Bulk requests and responses: round trips, the limits, damaged bytes.
#include "protocol/bulk_messages.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace abacus {
namespace {

Digest digest(std::uint8_t fill) {
  Digest d;
  d.bytes.fill(fill);
  return d;
}

TEST(BulkMessages, RequestsComeBackAsTheyWent) {
  auto chunks = decode_bulk_request(encode_bulk_request(GetChunks{digest(1), {digest(2), digest(3)}}));
  ASSERT_TRUE(chunks.has_value());
  EXPECT_EQ(std::get<GetChunks>(*chunks).chunks, (std::vector{digest(2), digest(3)}));
  ReadLog log{{{*JobId::parse("0123456789ab"), 7}, 2}, LogStream::standard_error, 1ull << 40, 4096};
  auto back = decode_bulk_request(encode_bulk_request(log));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(std::get<ReadLog>(*back).attempt, log.attempt);
  EXPECT_EQ(std::get<ReadLog>(*back).offset, log.offset);
  EXPECT_EQ(std::get<ReadLog>(*back).stream, log.stream);
}

TEST(BulkMessages, FullResponseFits) {
  ChunksPart part;
  for (int i = 0; i < 64; ++i) part.chunks.push_back({digest(1), Bytes(limits::kBulkPayloadBytes / 64)});
  Bytes encoded = encode_bulk_response(part);
  EXPECT_LE(encoded.size(), limits::kBulkResponseBytes);
  ASSERT_TRUE(decode_bulk_response(encoded).has_value());
  EXPECT_TRUE(
      decode_bulk_response(encode_bulk_response(LogPart{Bytes(limits::kBulkPayloadBytes), 5, true})).has_value());
}

TEST(BulkMessages, CountsAndCodesAreBounded) {
  auto code_of = [](const BulkRequest& request) {
    return decode_bulk_request(encode_bulk_request(request)).error().code;
  };
  EXPECT_EQ(code_of(GetChunks{digest(1), {}}), ErrorCode::invalid);
  EXPECT_EQ(code_of(GetChunks{digest(1), std::vector<Digest>(65)}), ErrorCode::exhausted);
  EXPECT_FALSE(decode_bulk_response(encode_bulk_response(BulkError{200, "?"})).has_value());
  EXPECT_FALSE(
      decode_bulk_response(encode_bulk_response(LogPart{Bytes(limits::kBulkPayloadBytes + 1), 5, true})).has_value());
}

RC_GTEST_PROP(BulkMessages, DamagedBytesAreRefusedOrMeanOneThing,
              (std::uint32_t at, std::uint8_t with, std::uint32_t cut)) {
  Bytes request = encode_bulk_request(GetChunks{digest(1), {digest(2), digest(3)}});
  Bytes response = encode_bulk_response(ChunksPart{{{digest(1), Bytes(40)}}, {digest(2)}});
  for (Bytes* bytes : {&request, &response}) {
    (*bytes)[at % bytes->size()] = with;
    if (cut % 3 == 0) bytes->resize(cut / 3 % bytes->size());
  }
  if (auto decoded = decode_bulk_request(request)) {
    Bytes canonical = encode_bulk_request(*decoded);
    RC_ASSERT(encode_bulk_request(*decode_bulk_request(canonical)) == canonical);
  }
  if (auto decoded = decode_bulk_response(response)) {
    Bytes canonical = encode_bulk_response(*decoded);
    RC_ASSERT(encode_bulk_response(*decode_bulk_response(canonical)) == canonical);
  }
}

}  // namespace
}  // namespace abacus
