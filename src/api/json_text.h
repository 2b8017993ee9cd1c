// JSON text to a value, with bounds and an error that says where.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"

namespace abacus {

/// Errors: `invalid` with the position and what is wrong; nesting is limited to 32.
Result<boost::json::value> parse_json(std::string_view text);

}  // namespace abacus
