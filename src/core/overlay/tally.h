// Names counted, each with a small number that holds while it is in use: what is scanned often compares numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"

namespace abacus {

class Tally {
 public:
  using Number = std::uint32_t;

  /// Counts one more of `name` and gives its number, a free one if the name is new.
  Number add(const std::string& name) {
    auto [row, fresh] = numbers_.try_emplace(name, 0);
    if (fresh) row->second = free_number();
    ++counts_[row->second];
    names_[row->second] = &row->first;
    return row->second;
  }

  /// One less; with the last one the number is free.
  void drop(Number number) {
    CHECK(counts_[number] > 0);
    if (--counts_[number] > 0) return;
    numbers_.erase(std::string(*names_[number]));
    free_.push_back(number);
  }

  std::uint32_t count(Number number) const { return counts_[number]; }
  std::uint32_t count(const std::string& name) const {
    auto row = numbers_.find(name);
    return row == numbers_.end() ? 0 : counts_[row->second];
  }

  /// Those in use, by name.
  const std::map<std::string, Number>& numbers() const { return numbers_; }
  /// Numbers are below this.
  std::size_t bound() const { return counts_.size(); }

 private:
  Number free_number() {
    if (free_.empty()) {
      counts_.push_back(0);
      names_.push_back(nullptr);
      return static_cast<Number>(counts_.size() - 1);
    }
    Number number = free_.back();
    free_.pop_back();
    return number;
  }

  std::map<std::string, Number> numbers_;
  std::vector<std::uint32_t> counts_;      ///< By number.
  std::vector<const std::string*> names_;  ///< By number: keys of numbers_.
  std::vector<Number> free_;
};

}  // namespace abacus
