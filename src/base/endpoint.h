// Where an agent listens: an IP address and a TCP port. Names are resolved before they become an Endpoint.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace abacus {

/// Trivially copyable; IPv4 addresses are held IPv4-mapped (RFC 4291, 2.5.5.2). Port 0 means "no endpoint known".
struct Endpoint {
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;

  auto operator<=>(const Endpoint&) const = default;

  bool known() const { return port != 0; }

  /// "127.0.0.1:7411" or "[::1]:7411".
  std::string to_string() const;

  /// Inverse of to_string; addresses only, no host names. Errors: `invalid`.
  static Result<Endpoint> parse(std::string_view text);
};

}  // namespace abacus
