// However the bytes of a stream are cut into pieces, the same frames come out.
#include <cstdlib>

#include "runtime/net/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxBytes = 4'096;
  std::vector<abacus::Bytes> whole, pieces;
  abacus::FrameParser at_once(kMaxBytes), bit_by_bit(kMaxBytes);
  bool whole_ok = at_once.feed({data, size}, whole).has_value(), pieces_ok = true;
  for (std::size_t i = 0; i < size && pieces_ok; ++i) pieces_ok = bit_by_bit.feed({data + i, 1}, pieces).has_value();
  if (whole_ok != pieces_ok || whole != pieces) std::abort();
  return 0;
}
