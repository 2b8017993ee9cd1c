// The conversations that share one listening port, told apart by TLS's ALPN (RFC 7301). The number is the version.
#pragma once

#include <array>
#include <string_view>

namespace abacus {

enum class Protocol { control, bulk, enrol };

inline constexpr std::array kProtocols = {Protocol::control, Protocol::bulk, Protocol::enrol};

constexpr std::string_view alpn_name(Protocol protocol) {
  switch (protocol) {
    case Protocol::control: return "abacus/1";
    case Protocol::bulk: return "abacus-bulk/1";
    case Protocol::enrol: return "abacus-enrol/1";
  }
  return {};
}

}  // namespace abacus
