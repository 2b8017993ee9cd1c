// Byte strings and their text form (lower-case hex).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace abacus {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

/// Two lower-case digits a byte.
std::string to_hex(BytesView bytes);

/// Inverse of to_hex, accepting upper case. Errors: `invalid` for an odd length or a character that is no hex digit.
Result<Bytes> from_hex(std::string_view text);

/// The bytes of a text, without copying.
inline BytesView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The text made of these bytes, without copying.
inline std::string_view as_text(BytesView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace abacus
