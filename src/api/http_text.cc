// Splitting and percent-decoding (RFC 3986).
#include "api/http_text.h"

namespace abacus {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0) {
      return fail(ErrorCode::invalid, "'{}' has a broken percent escape: want % and two hex digits", text);
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

/// Takes the text up to `separator` off the front, and the separator.
std::string_view take_until(std::string_view& text, char separator) {
  std::size_t end = text.find(separator);
  std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace

const std::string* HttpUrl::find(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<HttpUrl> parse_http_url(std::string_view target) {
  if (target.empty() || target.front() != '/') {
    return fail(ErrorCode::invalid, "'{}' is not a path: want /v1/...", target);
  }
  HttpUrl url;
  std::string_view rest = target;
  std::string_view path = take_until(rest, '?');
  path.remove_prefix(1);
  while (!path.empty()) {
    TRY(std::string segment, decode(take_until(path, '/')));
    url.path.push_back(std::move(segment));
  }
  while (!rest.empty()) {
    std::string_view pair = take_until(rest, '&');
    TRY(std::string name, decode(take_until(pair, '=')));
    TRY(std::string value, decode(pair));
    url.query.emplace_back(std::move(name), std::move(value));
  }
  return url;
}

}  // namespace abacus
