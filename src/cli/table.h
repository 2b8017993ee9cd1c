// Aligned columns of text.
#pragma once

#include <string>
#include <vector>

namespace abacus {

class Table {
 public:
  /// A heading that begins with '>' stands over right-aligned cells.
  explicit Table(std::vector<std::string> headings);

  /// As many cells as headings.
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  /// Headings and rows, each line ended, two spaces between columns, no spaces at the end of lines. Line breaks and
  /// other control characters in cells are shown as '?', so that no cell can forge a line.
  std::string to_string() const;

 private:
  struct Column {
    std::string heading;
    bool right = false;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace abacus
