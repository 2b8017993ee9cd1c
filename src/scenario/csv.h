// Plain comma-separated text with one header line: no quoting, no field with a comma.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace abacus {

class Csv {
 public:
  /// Errors: `invalid`, with the line, for a row of another width than the header.
  static Result<Csv> parse(std::string_view text);

  std::size_t rows() const { return rows_.size(); }

  /// Errors: `not_found`, naming the columns there are.
  Result<std::size_t> column(std::string_view name) const;

  const std::string& field(std::size_t row, std::size_t column) const { return rows_[row][column]; }

  /// A decimal number up to `most`, in thousandths, cut; an empty field is 0. Requires most <= kMost. Errors:
  /// `invalid`, with row and column.
  Result<std::int64_t> milli(std::size_t row, std::size_t column, std::int64_t most) const;

  static constexpr std::int64_t kMost = INT64_MAX / 1'000 - 1;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace abacus
