// IPv4 addresses travel in their IPv6-mapped form.
#include "runtime/net/address.h"

#include <algorithm>

namespace abacus {

namespace ip = boost::asio::ip;

ip::tcp::endpoint to_asio(const Endpoint& endpoint) {
  ip::address_v6 address(endpoint.address);
  if (address.is_v4_mapped()) return {ip::make_address_v4(ip::v4_mapped, address), endpoint.port};
  return {address, endpoint.port};
}

Endpoint from_asio(const ip::tcp::endpoint& endpoint) {
  ip::address_v6 address = endpoint.address().is_v4() ? ip::make_address_v6(ip::v4_mapped, endpoint.address().to_v4())
                                                      : endpoint.address().to_v6();
  Endpoint result;
  result.port = endpoint.port();
  auto bytes = address.to_bytes();
  std::copy(bytes.begin(), bytes.end(), result.address.begin());
  return result;
}

}  // namespace abacus
