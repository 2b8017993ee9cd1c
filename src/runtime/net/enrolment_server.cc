// The authority's side of runtime/net/enrolment.h.
#include <chrono>
#include <set>

#include "protocol/codec.h"
#include "runtime/net/enrolment.h"
#include "runtime/net/enrolment_wire.h"
#include "runtime/net/failure_limiter.h"
#include "runtime/net/listener.h"
#include "runtime/net/net_context.h"

namespace abacus {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kMaxAtOnce = 16;
constexpr int kFailuresPerAddress = 5, kFailuresAltogether = 100;  // a minute

WallTime wall_now() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count()};
}

MonoTime mono_now() {
  auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count()};
}

std::string without_port(const std::string& address) { return address.substr(0, address.rfind(':')); }

class EnrolmentServer : public std::enable_shared_from_this<EnrolmentServer> {
 public:
  EnrolmentServer(std::shared_ptr<NetContext> context, OrgAuthority authority, EnrolmentServerOptions options)
      : context_(std::move(context)), authority_(std::move(authority)), options_(std::move(options)) {}

  void adopt(std::shared_ptr<TlsStream> stream) {
    if (streams_.size() >= kMaxAtOnce) {
      context_->warn("refused an enrolment from {}: {} are under way", stream->peer_address(), streams_.size());
      return stream->close({ErrorCode::exhausted, "too many enrolments at once"});
    }
    streams_.insert(stream);
    spawn(context_->io, shared_from_this(), serve(std::move(stream)));
  }

  void stop() {
    for (const auto& stream : streams_) stream->close({ErrorCode::unavailable, "this agent stops"});
  }

 private:
  asio::awaitable<void> serve(std::shared_ptr<TlsStream> stream) {
    Duration limit = context_->options.handshake_timeout;
    Error late{ErrorCode::timed_out, fmt::format("no whole request within {}", to_string(limit))};
    stream->close_after(limit, late);
    Result<Bytes> answer = co_await hear(stream);
    if (!answer) {
      context_->warn("enrolment from {}: {}", stream->peer_address(), answer.error().message);
    } else {
      Bytes frame = std::move(*answer);
      Status sent = co_await write_one_frame(stream, std::move(frame));
      if (!sent) context_->warn("enrolment from {}: {}", stream->peer_address(), sent.error().message);
    }
    co_await stream->linger();
    streams_.erase(stream);
  }

  asio::awaitable<Result<Bytes>> hear(std::shared_ptr<TlsStream> stream) {
    std::string address = without_port(stream->peer_address());
    if (!limiter_.allows(address, mono_now())) {
      co_return refuse(*stream, {ErrorCode::exhausted, "too many failed attempts to enrol: wait a minute"});
    }
    Result<Bytes> frame = co_await read_one_frame(stream);
    if (!frame) co_return fail(frame.error());
    auto granted = judge(*stream, *frame);
    if (!granted) {
      limiter_.failed(address, mono_now());
      co_return refuse(*stream, granted.error());
    }
    ++context_->stats.enrolled;
    co_return encode(EnrolmentResponse(std::move(*granted)));
  }

  Bytes refuse(const TlsStream& stream, const Error& error) {
    ++context_->stats.enrolments_refused;
    context_->warn("refused to enrol {}: {}", stream.peer_address(), error.message);
    return encode(EnrolmentResponse(EnrolmentRefused{static_cast<std::uint8_t>(error.code), error.message}));
  }

  Result<EnrolmentGranted> judge(TlsStream& stream, BytesView frame) {
    TRY(EnrolmentRequest request, decode<EnrolmentRequest>(frame));
    const EnrolmentClaim& claim = request.claim;
    TRY(Bytes content, proof_content(stream.ssl(), claim));
    if (!verify(claim.node, kEnrolmentSignatureContext, content, request.proof)) {
      return fail(ErrorCode::denied, "the joining node did not prove that it holds the key {}",
                  claim.node.short_string());
    }
    const RequestedAttributes& wish = claim.attributes;
    NodeAttributes requested{
        {wish.region, false}, {wish.jurisdiction, false}, {wish.owner, false}, {wish.device_class, false}};
    TRY(Certificate certificate, authority_.enrol(claim.token_secret, claim.node, requested, wall_now()));
    return EnrolmentGranted{
        certificate.to_der(), authority_.certificate().to_der(), {context_->identity.node_id(), options_.advertise}};
  }

  std::shared_ptr<NetContext> context_;
  OrgAuthority authority_;
  EnrolmentServerOptions options_;
  FailureLimiter limiter_{kFailuresPerAddress, kFailuresAltogether};
  std::set<std::shared_ptr<TlsStream>> streams_;
};

}  // namespace

void serve_enrolment(Transport& transport, OrgAuthority authority, EnrolmentServerOptions options) {
  auto server = std::make_shared<EnrolmentServer>(transport.context(), std::move(authority), std::move(options));
  transport.context()->on_stop.push_back([server] { server->stop(); });
  transport.listener().serve(Protocol::enrol, [server](std::shared_ptr<TlsStream> stream, const PeerIdentity&) {
    server->adopt(std::move(stream));
  });
}

}  // namespace abacus
