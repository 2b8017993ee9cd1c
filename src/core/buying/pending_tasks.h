// Which tasks of a job wait for a place: ranges of positions, so that a million tasks cost nothing until they start.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace abacus {

/// A position counts a job's tasks from 0, whatever their array indices.
class PendingTasks {
 public:
  /// Half open: [begin, end).
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  /// Appends positions that were never placed. Requires begin >= the end of the last range added.
  void add_fresh(std::uint32_t begin, std::uint32_t end);

  /// A task that has to be placed again: it goes before the fresh ones.
  void add_again(std::uint32_t position);

  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }

  /// The next position to place. Requires !empty().
  std::uint32_t take();

  /// Takes one position out, wherever it is; false if it is not here.
  bool remove(std::uint32_t position);

  bool contains(std::uint32_t position) const;

  /// Takes everything: those to be placed again, and the number of fresh ones.
  std::vector<std::uint32_t> take_again();
  std::uint32_t drop_fresh();

 private:
  std::deque<std::uint32_t> again_;
  std::deque<Range> fresh_;  ///< Ascending, none empty.
  std::uint32_t size_ = 0;
};

}  // namespace abacus
