// Sizes in bytes to and from text, as people write them in commands and files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace abacus {

/// Bytes from a whole or decimal number and a unit: "4GiB", "1.5 GiB", "512M", "65536". K, M, G, T and KiB, MiB, GiB,
/// TiB are powers of 1024; KB, MB, GB, TB powers of 1000; case does not matter; a fraction of a byte is cut off.
/// Errors: `invalid` for anything else, and for 2^63 bytes or more.
Result<std::uint64_t> parse_size(std::string_view text);

/// "1.5 GiB": the largest binary unit of which there is at least one, three digits, cut and not rounded.
std::string size_text(std::uint64_t bytes);

}  // namespace abacus
