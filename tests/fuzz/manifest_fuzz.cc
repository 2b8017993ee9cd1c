// A manifest is refused, or is the one encoding of its tree.
#include <algorithm>
#include <cstdlib>

#include "runtime/data/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto manifest = abacus::decode_manifest({data, size});
  if (!manifest) return 0;
  auto again = abacus::encode_manifest(*manifest);
  if (!again || !std::equal(again->begin(), again->end(), data, data + size)) std::abort();
  return 0;
}
