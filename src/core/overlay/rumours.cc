// A short list, searched and sorted as a whole.
#include "core/overlay/rumours.h"

#include <algorithm>

namespace abacus {

void Rumours::add(const Rumour& rumour) {
  std::erase_if(rows_, [&](const Row& row) { return row.rumour.node == rumour.node; });
  if (rows_.size() >= config_.rumours_max) {
    rows_.erase(
        std::max_element(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.sends < b.sends; }));
  }
  rows_.push_back({rumour, 0});
}

std::vector<Rumour> Rumours::take() {
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.sends < b.sends; });
  std::vector<Rumour> taken;
  for (std::size_t i = 0; i < rows_.size() && i < config_.rumours_per_message; ++i) {
    taken.push_back(rows_[i].rumour);
    ++rows_[i].sends;
  }
  std::erase_if(rows_, [&](const Row& row) { return row.sends >= config_.rumour_sends; });
  return taken;
}

}  // namespace abacus
