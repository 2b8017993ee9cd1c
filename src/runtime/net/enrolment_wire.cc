// The proof covers keying material of the TLS session, so that it cannot be used in another one.
#include "runtime/net/enrolment_wire.h"

#include "protocol/codec.h"
#include "runtime/net/frame.h"

namespace abacus {

namespace asio = boost::asio;

Result<Bytes> proof_content(SSL* ssl, const EnrolmentClaim& claim) {
  static constexpr std::string_view kLabel = "EXPERIMENTAL abacus enrolment";
  Bytes content(32);
  if (SSL_export_keying_material(ssl, content.data(), content.size(), kLabel.data(), kLabel.size(), nullptr, 0, 0) !=
      1) {
    return fail(ErrorCode::internal, "TLS exports no secret: {}", openssl_reason());
  }
  encode_to(content, claim);
  return content;
}

asio::awaitable<Result<Bytes>> read_one_frame(std::shared_ptr<TlsStream> stream) {
  FrameParser parser(limits::kEnrolmentBytes);
  std::array<std::uint8_t, 4096> buffer;
  std::vector<Bytes> frames;
  while (frames.empty()) {
    Result<std::size_t> got = co_await stream->read(buffer);
    if (!got) co_return fail(got.error());
    if (*got == 0) co_return fail(ErrorCode::corrupt, "{} closed the connection early", stream->peer_address());
    Status parsed = parser.feed(BytesView(buffer).first(*got), frames);
    if (!parsed) co_return fail(parsed.error());
  }
  co_return std::move(frames.front());
}

asio::awaitable<Status> write_one_frame(std::shared_ptr<TlsStream> stream, Bytes frame) {
  Bytes wire;
  append_frame(wire, frame);
  Status written = co_await stream->write(wire);
  if (!written) co_return written;
  co_return co_await stream->finish_writing();
}

}  // namespace abacus
