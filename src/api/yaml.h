// YAML to JSON, so that files and requests are read by the same code.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "base/result.h"

namespace abacus {

/// YAML as JSON: plain scalars become numbers, booleans and null where they look like it. Errors: `invalid`, with the
/// line; more than 100,000 values or 32 levels are too many.
Result<boost::json::value> json_of_yaml(const std::string& text);

}  // namespace abacus
