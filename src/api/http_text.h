// The target of a request taken apart: "/v1/jobs/ID?limit=5".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace abacus {

struct HttpUrl {
  std::vector<std::string> path;  ///< Segments, percent-decoded: {"v1", "jobs", "ID"}.
  std::vector<std::pair<std::string, std::string>> query;

  /// The value of a query parameter; null if it is not there.
  const std::string* find(std::string_view name) const;
};

/// Errors: `invalid` (does not begin with "/", a broken percent escape, an escaped zero byte).
Result<HttpUrl> parse_http_url(std::string_view target);

}  // namespace abacus
