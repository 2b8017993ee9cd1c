// "Did you mean": the nearest of the names that would have been right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace abacus {

/// The name within an edit distance of a third of its length (at least 1); empty if there is none. Of equally near ones
/// the first.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names);

/// "; did you mean 'memory'?", or nothing.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace abacus
