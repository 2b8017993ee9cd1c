// Any bytes are either refused or a message whose encoding is exactly those bytes, unknown trailing fields aside.
#include <cstdlib>

#include "protocol/codec.h"
#include "protocol/json_form.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto envelope = abacus::decode_envelope({data, size});
  if (!envelope) return 0;
  abacus::Bytes again = abacus::encode_envelope(*envelope);
  auto twice = abacus::decode_envelope(again);
  if (!twice || abacus::encode_envelope(*twice) != again) std::abort();
  abacus::to_json(*envelope);
  return 0;
}
