// The last so many ids seen: what tells a late repeat of a message from news.
#pragma once

#include <cstddef>
#include <deque>
#include <set>

namespace abacus {

template <class Id>
class Recent {
 public:
  explicit Recent(std::size_t size) : size_(size) {}

  void insert(const Id& id) {
    if (!ids_.insert(id).second) return;
    order_.push_back(id);
    if (order_.size() <= size_) return;
    ids_.erase(order_.front());
    order_.pop_front();
  }

  bool contains(const Id& id) const { return ids_.contains(id); }

 private:
  std::size_t size_;
  std::set<Id> ids_;
  std::deque<Id> order_;
};

}  // namespace abacus
