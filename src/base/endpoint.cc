// Endpoints to and from text.
#include "base/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace abacus {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_ipv4(const std::array<std::uint8_t, 16>& address) {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.begin());
}

}  // namespace

std::string Endpoint::to_string() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_ipv4(address)) {
    inet_ntop(AF_INET, address.data() + kMappedPrefix.size(), text, sizeof text);
    return fmt::format("{}:{}", text, port);
  }
  inet_ntop(AF_INET6, address.data(), text, sizeof text);
  return fmt::format("[{}]:{}", text, port);
}

Result<Endpoint> Endpoint::parse(std::string_view text) {
  auto wrong = [&] {
    return fail(ErrorCode::invalid, "'{}' is not an endpoint: want ADDRESS:PORT, such as 127.0.0.1:7411 or [::1]:7411",
                text);
  };
  std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  Endpoint endpoint;
  std::string_view digits = text.substr(colon + 1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), endpoint.port);
  if (error != std::errc{} || end != digits.data() + digits.size()) return wrong();
  std::string host(text.substr(0, colon));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    if (inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), endpoint.address.data()) != 1) return wrong();
    return endpoint;
  }
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), endpoint.address.begin());
  if (inet_pton(AF_INET, host.c_str(), endpoint.address.data() + kMappedPrefix.size()) != 1) return wrong();
  return endpoint;
}

}  // namespace abacus
