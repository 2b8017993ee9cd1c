// Ranges of waiting positions.
#include "core/buying/pending_tasks.h"

#include <algorithm>

#include "base/check.h"

namespace abacus {

void PendingTasks::add_fresh(std::uint32_t begin, std::uint32_t end) {
  if (begin >= end) return;
  CHECK(fresh_.empty() || fresh_.back().end <= begin);
  size_ += end - begin;
  if (!fresh_.empty() && fresh_.back().end == begin) {
    fresh_.back().end = end;
  } else {
    fresh_.push_back({begin, end});
  }
}

void PendingTasks::add_again(std::uint32_t position) {
  again_.push_back(position);
  ++size_;
}

std::uint32_t PendingTasks::take() {
  CHECK(size_ > 0);
  --size_;
  if (!again_.empty()) {
    std::uint32_t position = again_.front();
    again_.pop_front();
    return position;
  }
  Range& first = fresh_.front();
  std::uint32_t position = first.begin++;
  if (first.begin == first.end) fresh_.pop_front();
  return position;
}

bool PendingTasks::remove(std::uint32_t position) {
  if (auto found = std::find(again_.begin(), again_.end(), position); found != again_.end()) {
    again_.erase(found);
    --size_;
    return true;
  }
  for (auto range = fresh_.begin(); range != fresh_.end(); ++range) {
    if (position < range->begin || position >= range->end) continue;
    Range after{position + 1, range->end};
    range->end = position;
    auto next = range->begin == range->end ? fresh_.erase(range) : std::next(range);
    if (after.begin < after.end) fresh_.insert(next, after);
    --size_;
    return true;
  }
  return false;
}

bool PendingTasks::contains(std::uint32_t position) const {
  auto holds = [&](const Range& range) { return position >= range.begin && position < range.end; };
  return std::find(again_.begin(), again_.end(), position) != again_.end() ||
         std::any_of(fresh_.begin(), fresh_.end(), holds);
}

std::vector<std::uint32_t> PendingTasks::take_again() {
  std::vector<std::uint32_t> taken(again_.begin(), again_.end());
  again_.clear();
  size_ -= static_cast<std::uint32_t>(taken.size());
  return taken;
}

std::uint32_t PendingTasks::drop_fresh() {
  std::uint32_t dropped = size_ - static_cast<std::uint32_t>(again_.size());
  fresh_.clear();
  size_ = static_cast<std::uint32_t>(again_.size());
  return dropped;
}

}  // namespace abacus
