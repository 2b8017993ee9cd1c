// Edit distance with swapped neighbours as one mistake (optimal string alignment), three rows at a time.
#include "api/suggest.h"

#include <algorithm>
#include <numeric>

namespace abacus {
namespace {

constexpr std::size_t kLongestName = 64;  // longer ones are no typing errors, and cost quadratic time

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names) {
  std::string best;
  std::size_t best_distance = kLongestName;
  if (wrong.size() > kLongestName) return best;
  for (const std::string& name : names) {
    std::size_t distance = edit_distance(wrong, name);
    if (distance > std::max<std::size_t>(1, name.size() / 3) || distance >= best_distance) continue;
    best = name;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names) {
  std::string name = nearest_name(wrong, names);
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

}  // namespace abacus
