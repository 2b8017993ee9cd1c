// The secret that clients over TCP must show: made, kept in a file, compared.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace abacus {

/// Reads the API token in a file, or makes a fresh one of 256 random bits (mode 0600) when there is no such file.
/// Errors: `denied` (others could read the file, or it cannot be opened), `corrupt` (no token in it), `internal`.
Result<std::string> load_or_make_api_token(const std::string& path);

/// Reads a token that must be there. Errors: `not_found`, and as load_or_make_api_token.
Result<std::string> load_api_token(const std::string& path);

/// Compares in a time that depends on the length of `given` only. An empty secret equals nothing.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace abacus
