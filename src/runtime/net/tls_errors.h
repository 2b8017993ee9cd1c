// OpenSSL's failures as sentences that say who, why and what would be right. Internal to runtime/net.
#pragma once

#include <string>

#include "runtime/net/tls_context.h"

namespace abacus {

/// Describes the failure of the last OpenSSL call and empties the error queue. `ssl_error` is SSL_get_error's answer,
/// `system_error` the errno right after the call, `peer` its address.
Error describe_tls_failure(const TlsContext& tls, const HandshakeNotes& notes, int ssl_error, int system_error,
                           const std::string& peer);

}  // namespace abacus
