// What both sides of an enrolment share: one frame each way, and the proof of the key. Internal to runtime/net.
#pragma once

#include "protocol/enrolment_messages.h"
#include "runtime/net/tls_stream.h"

namespace abacus {

/// What the joiner signs: this connection's exported secret, then the claim.
Result<Bytes> proof_content(SSL* ssl, const EnrolmentClaim& claim);

/// Errors: those of the stream, `corrupt` for a frame above limits::kEnrolmentBytes or an end before it is whole.
boost::asio::awaitable<Result<Bytes>> read_one_frame(std::shared_ptr<TlsStream> stream);
boost::asio::awaitable<Status> write_one_frame(std::shared_ptr<TlsStream> stream, Bytes frame);

}  // namespace abacus
