// A job as people write it, in JSON (POST /v1/jobs, `abacus submit --file`) and in the CLI's flags: one grammar for
// all.
//
// docs/reference/api.md lists the fields. Quantities may be texts with units ("memory": "4GiB", "budget": "2.50"); each
// also has its exact form, an integer whose unit is in the name, as in all JSON that the agent gives ("memory_bytes").
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/service.h"

namespace abacus {

/// Pure. `now` is what a deadline such as "2h" counts from. Errors: `invalid`, beginning with the path of the field:
/// what is wrong with it and what would be right; unknown fields are errors too.
Result<SubmitRequest> parse_job_document(const boost::json::value& document, WallTime now);

/// The names of all fields, for suggestions.
std::vector<std::string> job_document_fields();

/// "0-99", "0-99:2" (step), "0-15%4" (at most 4 at once), "7". Errors: `invalid`.
Result<ArraySpec> parse_array(std::string_view text);

/// "2", "0.5", "500m". Errors: `invalid`.
Result<std::uint32_t> parse_cpu_milli(std::string_view text);

/// "2" (any model), "a100", "a100:2". Errors: `invalid`.
Result<DeviceNeed> parse_gpu(std::string_view text);

/// low, normal, high, or what an hour's delay of one task is worth, in credits ("0.36"). Errors: `invalid`.
Result<Price> parse_urgency(std::string_view text);

/// "PATH" or "PATH:NAME". The path is left as it is, relative or not. Errors: `invalid`.
Result<InputPath> parse_input(std::string_view text);

}  // namespace abacus
