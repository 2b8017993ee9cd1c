// Requests and responses of bulk connections.
#include "protocol/bulk_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (auto request = abacus::decode_bulk_request({data, size})) abacus::encode_bulk_request(*request);
  if (auto response = abacus::decode_bulk_response({data, size})) abacus::encode_bulk_response(*response);
  return 0;
}
