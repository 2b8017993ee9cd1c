// Accepts up to a bound of unfinished handshakes, and makes room by closing the slowest.
#include "runtime/net/listener.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "runtime/net/address.h"

namespace abacus {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // after a failed accept: mostly too many open files

tl::unexpected<Error> listen_error(const Endpoint& at, const boost::system::error_code& error) {
  if (error == asio::error::address_in_use) {
    return fail(ErrorCode::already_exists,
                "port {} at {} is taken, perhaps by another agent: stop that one, or choose another port with "
                "--listen ADDRESS:PORT",
                at.port, at.to_string());
  }
  if (error == asio::error::access_denied) {
    return fail(ErrorCode::denied,
                "port {} may not be used by this user: choose one above 1023 with --listen ADDRESS:PORT", at.port);
  }
  return fail(ErrorCode::invalid,
              "cannot listen at {}: {}; choose an address of this machine with --listen ADDRESS:PORT", at.to_string(),
              error.message());
}

}  // namespace

Listener::Listener(std::shared_ptr<NetContext> context, tcp::acceptor acceptor)
    : context_(std::move(context)), acceptor_(std::move(acceptor)), pause_(acceptor_.get_executor()) {}

Result<std::shared_ptr<Listener>> Listener::open(std::shared_ptr<NetContext> context) {
  const Endpoint& at = context->options.listen;
  tcp::endpoint endpoint = to_asio(at);
  tcp::acceptor acceptor(context->io);
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return listen_error(at, error);
  std::shared_ptr<Listener> self(new Listener(std::move(context), std::move(acceptor)));
  spawn(self->context_->io, self, self->accept_loop());
  return self;
}

void Listener::serve(Protocol protocol, Handler handler) {
  handlers_[protocol] = std::move(handler);
  context_->tls->serve(protocol);
}

void Listener::stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  for (const auto& stream : shaking_) stream->close({ErrorCode::unavailable, "this agent stops"});
}

Endpoint Listener::local_endpoint() const {
  boost::system::error_code error;
  tcp::endpoint endpoint = acceptor_.local_endpoint(error);
  return error ? context_->options.listen : from_asio(endpoint);
}

asio::awaitable<void> Listener::accept_loop() {
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(kNoThrow);
    if (!acceptor_.is_open()) co_return;
    if (error) {
      context_->warn("cannot accept a connection: {}", error.message());
      pause_.expires_after(kAcceptPause);
      co_await pause_.async_wait(kNoThrow);
      continue;
    }
    make_room();
    spawn(context_->io, shared_from_this(), welcome(TlsStream::accepted(std::move(socket), context_->tls)));
  }
}

void Listener::make_room() {
  if (shaking_.size() < context_->options.max_handshakes) return;
  shaking_.front()->close({ErrorCode::exhausted, "too many handshakes at once, and this one was the slowest"});
  shaking_.pop_front();
}

asio::awaitable<Status> Listener::authenticate(std::shared_ptr<TlsStream> stream) {
  Duration limit = context_->options.handshake_timeout;
  Error late{ErrorCode::timed_out,
             fmt::format("{} did not finish its TLS handshake within {}", stream->peer_address(), to_string(limit))};
  stream->close_after(limit, late);
  shaking_.push_back(stream);
  Status shaken = co_await stream->handshake();
  shaking_.remove(stream);
  stream->call_off_close();
  co_return shaken;
}

asio::awaitable<void> Listener::welcome(std::shared_ptr<TlsStream> stream) {
  Status outcome = co_await authenticate(stream);
  if (outcome) outcome = dispatch(stream);
  if (outcome || !acceptor_.is_open()) co_return;
  ++context_->stats.rejected;
  context_->warn("{}", outcome.error().message);
  co_await stream->linger();
}

Status Listener::dispatch(const std::shared_ptr<TlsStream>& stream) {
  TRY(Protocol protocol, TlsContext::agreed_protocol(stream->ssl()));
  PeerIdentity peer;
  if (protocol != Protocol::enrol) {
    TRY(peer, context_->tls->peer_identity(stream->ssl()));
    if (peer.node == context_->identity.node_id()) {
      return fail(ErrorCode::denied,
                  "{} shows this node's own identity: every agent needs a data directory of its own, copied by none",
                  stream->peer_address());
    }
  }
  auto handler = handlers_.find(protocol);
  if (handler == handlers_.end()) return fail(ErrorCode::unsupported, "{} is not served here", alpn_name(protocol));
  ++context_->stats.handshakes;
  handler->second(stream, std::move(peer));
  return {};
}

}  // namespace abacus
