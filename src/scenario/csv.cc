// Splits lines at commas, and reads decimals without floating point.
#include "scenario/csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace abacus {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Csv> Csv::parse(std::string_view text) {
  Csv csv;
  std::size_t number = 0;
  for (std::string& line : split(text, '\n')) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    std::vector<std::string> fields = split(line, ',');
    if (csv.header_.empty()) {
      csv.header_ = std::move(fields);
      continue;
    }
    if (fields.size() != csv.header_.size()) {
      return fail(ErrorCode::invalid, "line {} has {} fields, the header names {}", number, fields.size(),
                  csv.header_.size());
    }
    csv.rows_.push_back(std::move(fields));
  }
  if (csv.header_.empty()) return fail(ErrorCode::invalid, "it is empty: want a header line with the columns' names");
  return csv;
}

Result<std::size_t> Csv::column(std::string_view name) const {
  auto found = std::find(header_.begin(), header_.end(), name);
  if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
  return fail(ErrorCode::not_found, "there is no column '{}'; there are {}", name, fmt::join(header_, ", "));
}

Result<std::int64_t> Csv::milli(std::size_t row, std::size_t column, std::int64_t most) const {
  std::string_view text = field(row, column);
  auto wrong = [&] {
    return fail(ErrorCode::invalid, "row {}, column '{}': '{}' is no number from 0 to {}", row + 1, header_[column],
                field(row, column), most);
  };
  if (text.empty()) return 0;
  std::int64_t whole = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{} || whole > most || whole < 0) return wrong();
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  std::int64_t milli = 0, weight = 100;
  if (!text.empty() && text.front() != '.') return wrong();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return wrong();
    milli += (text[i] - '0') * weight;
    weight /= 10;
  }
  return whole * 1000 + milli;
}

}  // namespace abacus
