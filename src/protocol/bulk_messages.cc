// Limits of bulk requests and responses, checked on the way in.
#include "protocol/bulk_messages.h"

#include "protocol/codec.h"

namespace abacus {

Status validate(const GetChunks& request) {
  if (request.chunks.empty() || request.chunks.size() > limits::kBulkChunks) {
    return fail(ErrorCode::invalid, "{} chunks asked for: want 1 to {}", request.chunks.size(), limits::kBulkChunks);
  }
  return {};
}

Status validate(const BulkError& response) {
  if (response.code > static_cast<std::uint8_t>(ErrorCode::internal)) {
    return fail(ErrorCode::invalid, "{} is no error code", response.code);
  }
  return {};
}

Bytes encode_bulk_request(const BulkRequest& request) { return encode(request); }
Bytes encode_bulk_response(const BulkResponse& response) { return encode(response); }

Result<BulkRequest> decode_bulk_request(BytesView bytes) {
  if (bytes.size() > limits::kBulkRequestBytes) {
    return fail(ErrorCode::exhausted, "a bulk request of {} bytes: the limit is {}", bytes.size(),
                limits::kBulkRequestBytes);
  }
  return decode<BulkRequest>(bytes, {.string_bytes = 64, .array_items = limits::kBulkChunks});
}

Result<BulkResponse> decode_bulk_response(BytesView bytes) {
  if (bytes.size() > limits::kBulkResponseBytes) {
    return fail(ErrorCode::exhausted, "a bulk response of {} bytes: the limit is {}", bytes.size(),
                limits::kBulkResponseBytes);
  }
  return decode<BulkResponse>(bytes, {.string_bytes = limits::kBulkPayloadBytes, .array_items = limits::kBulkChunks});
}

}  // namespace abacus
