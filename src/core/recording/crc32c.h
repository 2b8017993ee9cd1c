// CRC-32C (Castagnoli), the checksum of the entries of a recording.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace abacus {

/// As in RFC 3720, appendix B.4: of "123456789" it is 0xe3069283.
std::uint32_t crc32c(BytesView bytes);

}  // namespace abacus
