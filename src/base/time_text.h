// Durations and dates from text, as people write them in commands and files, and dates to text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace abacus {

/// "90s", "10m", "1h30m", "1.5h", "250ms", "2d"; a bare number means seconds. Units: ns, us, ms, s, m or min, h, d,
/// from long to short, each at most once. Errors: `invalid` for anything else, and for 100 years or more.
Result<Duration> parse_duration(std::string_view text);

/// "2026-12-01T18:30:00Z" (RFC 3339, UTC; "T" may be a space, "Z" and seconds may be left out). Errors: `invalid`.
Result<WallTime> parse_wall_time(std::string_view text);

/// "2026-12-01T18:30:00Z", cut to whole seconds.
std::string utc_text(WallTime time);

}  // namespace abacus
