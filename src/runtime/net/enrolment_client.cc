// The joiner's side of runtime/net/enrolment.h.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "protocol/codec.h"
#include "runtime/net/address.h"
#include "runtime/net/enrolment.h"
#include "runtime/net/enrolment_wire.h"

namespace abacus {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kMaxAddresses = 8;  // of one name, tried in turn

asio::awaitable<Result<std::vector<Endpoint>>> resolve(asio::io_context& io, const std::string& host,
                                                       std::uint16_t port) {
  std::string service = std::to_string(port);
  tcp::resolver resolver(io);
  auto [error, found] = co_await resolver.async_resolve(host, service, kNoThrow);
  if (error) co_return fail(ErrorCode::unavailable, "cannot find the host '{}': {}", host, error.message());
  std::vector<Endpoint> endpoints;
  for (const auto& entry : found) {
    if (endpoints.size() < kMaxAddresses) endpoints.push_back(from_asio(entry.endpoint()));
  }
  co_return endpoints;
}

/// The first address that answers; else what went wrong at the last.
asio::awaitable<Result<std::shared_ptr<TlsStream>>> reach(asio::io_context& io, std::shared_ptr<TlsContext> tls,
                                                          const std::vector<Endpoint>& endpoints, Duration timeout,
                                                          Endpoint& reached) {
  Result<std::shared_ptr<TlsStream>> stream = fail(ErrorCode::unavailable, "the host has no address");
  for (const Endpoint& endpoint : endpoints) {
    reached = endpoint;
    stream = co_await connect_tls(io, tls, endpoint, Protocol::enrol, timeout);
    if (stream || stream.error().code == ErrorCode::denied) break;
  }
  co_return stream;
}

Result<Bytes> make_request(SSL* ssl, const EnrolmentToken& token, const KeyPair& key, const NodeAttributes& requested) {
  EnrolmentRequest request;
  request.claim.token_secret.assign(token.secret.begin(), token.secret.end());
  request.claim.node = key.node_id();
  request.claim.attributes = {requested.region.value, requested.jurisdiction.value, requested.owner.value,
                              requested.device_class.value};
  TRY(Bytes content, proof_content(ssl, request.claim));
  request.proof = key.sign(kEnrolmentSignatureContext, content);
  return encode(request);
}

Result<Enrolment> check_grant(const EnrolmentGranted& granted, const EnrolmentToken& token, const KeyPair& key) {
  TRY(Certificate node, Certificate::from_der(granted.node_certificate));
  TRY(Certificate organisation, Certificate::from_der(granted.organisation_certificate));
  if (organisation.org_id() != token.org || !organisation.is_authority() || !organisation.signed_by(token.org.bytes)) {
    return fail(ErrorCode::corrupt, "the server sent another organisation's certificate than the token's");
  }
  if (node.key() != key.public_key() || !node.signed_by(token.org.bytes)) {
    return fail(ErrorCode::corrupt, "the server sent a certificate that is not for this node");
  }
  return Enrolment{std::move(node), std::move(organisation), granted.contact.node, granted.contact.endpoint};
}

Result<Enrolment> read_response(BytesView frame, const EnrolmentToken& token, const KeyPair& key) {
  auto response = decode<EnrolmentResponse>(frame);
  if (!response) return fail(ErrorCode::corrupt, "the server's answer makes no sense: {}", response.error().message);
  if (const auto* refused = std::get_if<EnrolmentRefused>(&*response)) {
    bool known = refused->code <= static_cast<std::uint8_t>(ErrorCode::internal);
    return fail(Error{known ? static_cast<ErrorCode>(refused->code) : ErrorCode::denied, refused->message});
  }
  return check_grant(std::get<EnrolmentGranted>(*response), token, key);
}

}  // namespace

asio::awaitable<Result<Enrolment>> enrol(asio::io_context& io, std::string host, std::uint16_t port,
                                         EnrolmentToken token, KeyPair key, NodeAttributes requested,
                                         Duration timeout) {
  Status sound = check_attributes(requested);
  if (!sound) co_return fail(sound.error());
  auto endpoints = co_await resolve(io, host, port);
  if (!endpoints) co_return fail(endpoints.error());
  Endpoint reached;
  auto tls = TlsContext::for_enrolment(token.org);
  auto connected = co_await reach(io, tls, *endpoints, timeout, reached);
  if (!connected && connected.error().code == ErrorCode::unsupported) {
    co_return fail(ErrorCode::unsupported,
                   "the agent at {} does not enrol nodes: join at the one that holds the "
                   "organisation's authority, where `abacus org init` was run ({})",
                   reached.to_string(), connected.error().message);
  }
  if (!connected && connected.error().code == ErrorCode::unavailable) {
    co_return fail(ErrorCode::unavailable, "{}; join at a running agent of the organisation that holds its authority",
                   connected.error().message);
  }
  if (!connected) co_return fail(connected.error());
  std::shared_ptr<TlsStream> stream = *connected;
  Error late{ErrorCode::timed_out, fmt::format("{} did not answer within {}", reached.to_string(), to_string(timeout))};
  stream->close_after(timeout, late);
  auto request = make_request(stream->ssl(), token, key, requested);
  if (!request) co_return fail(request.error());
  Bytes frame = std::move(*request);
  Status sent = co_await write_one_frame(stream, std::move(frame));
  if (!sent) co_return fail(sent.error());
  auto answer = co_await read_one_frame(stream);
  if (!answer) co_return fail(answer.error());
  auto enrolment = read_response(*answer, token, key);
  stream->close({ErrorCode::unavailable, "done"});
  if (!enrolment) co_return fail(enrolment.error());
  if (!enrolment->contact.known()) enrolment->contact = reached;
  co_return std::move(*enrolment);
}

Result<Enrolment> enrol_and_wait(const std::string& host, std::uint16_t port, const EnrolmentToken& token,
                                 const KeyPair& key, const NodeAttributes& requested, Duration timeout) {
  asio::io_context io(1);
  Result<Enrolment> outcome = fail(ErrorCode::internal, "the enrolment did not run");
  auto attempt = [&]() -> asio::awaitable<void> {
    outcome = co_await enrol(io, host, port, token, key, requested, timeout);
  };
  asio::co_spawn(io, attempt, [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  return outcome;
}

}  // namespace abacus
