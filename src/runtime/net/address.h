// Between Endpoint and Asio's addresses. Internal to runtime/net.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "base/endpoint.h"

namespace abacus {

/// IPv4-mapped addresses become IPv4.
boost::asio::ip::tcp::endpoint to_asio(const Endpoint& endpoint);
Endpoint from_asio(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace abacus
