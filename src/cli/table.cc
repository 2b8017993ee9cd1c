// Widths first, then lines. A character is what is no UTF-8 continuation byte.
#include "cli/table.h"

#include <algorithm>

#include "base/check.h"

namespace abacus {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    bool right = !heading.empty() && heading.front() == '>';
    columns_.push_back({right ? heading.substr(1) : std::move(heading), right});
  }
}

void Table::row(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    std::replace_if(
        cell.begin(), cell.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  }
  rows_.push_back(std::move(cells));
}

std::string Table::to_string() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.heading));
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  }
  std::string text;
  auto line = [&](auto cell_at) {
    std::string line_text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_at(i);
      std::string padding(widths[i] - width_of(cell), ' ');
      if (i > 0) line_text += "  ";
      line_text += columns_[i].right ? padding + cell : cell + padding;
    }
    line_text.erase(line_text.find_last_not_of(' ') + 1);
    text += line_text + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return columns_[i].heading; });
  for (const auto& cells : rows_) line([&](std::size_t i) -> const std::string& { return cells[i]; });
  return text;
}

}  // namespace abacus
