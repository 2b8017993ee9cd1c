// Boost.JSON's parser, its errors turned into a sentence.
#include "api/json_text.h"

#include <boost/json/parser.hpp>

namespace abacus {

Result<boost::json::value> parse_json(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = 32;
  boost::json::parser parser({}, options);
  boost::system::error_code error;
  std::size_t good = parser.write_some(text.data(), text.size(), error);
  if (!error) {
    std::size_t end = text.find_first_not_of(" \t\r\n", good);
    if (end == std::string_view::npos) return parser.release();
    return fail(ErrorCode::invalid, "not JSON: something follows the value at byte {}", end);
  }
  return fail(ErrorCode::invalid, "not JSON: {} at byte {} of {}", error.message(), good, text.size());
}

}  // namespace abacus
