// OpenSSL's way to a non-blocking socket. Unlike OpenSSL's own it never raises SIGPIPE. Internal to runtime/net.
#pragma once

#include <openssl/bio.h>

namespace abacus {

/// A BIO that receives from and sends to `descriptor`, which stays its caller's to close.
BIO* new_socket_bio(int descriptor);

}  // namespace abacus
