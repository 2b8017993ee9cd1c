// Each OpenSSL call is repeated after waiting for what it wants: readable or writable.
#include "runtime/net/tls_stream.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>

#include "runtime/net/address.h"
#include "runtime/net/socket_bio.h"
#include "runtime/net/tls_errors.h"

namespace abacus {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr Duration kLinger = milliseconds(500);
constexpr std::size_t kLingerBytes = 64 * 1024;

// A peer that vanishes without a word is noticed after so long: with bytes under way, or with none.
constexpr int kUnacknowledgedMs = 15'000, kKeepAliveIdleS = 30, kKeepAliveIntervalS = 5;

void tune(tcp::socket& socket) {
  boost::system::error_code ignored;
  // Before the handshake: with Nagle's algorithm the first message takes tens of milliseconds.
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  auto set = [&](int option, int value) {
    setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, kKeepAliveIdleS);
  set(TCP_KEEPINTVL, kKeepAliveIntervalS);
  set(TCP_USER_TIMEOUT, kUnacknowledgedMs);
  socket.native_non_blocking(true, ignored);
}

}  // namespace

TlsStream::TlsStream(tcp::socket socket, std::shared_ptr<TlsContext> tls)
    : tls_(std::move(tls)), socket_(std::move(socket)), deadline_(socket_.get_executor()) {}

TlsStream::~TlsStream() = default;

std::shared_ptr<TlsStream> TlsStream::accepted(tcp::socket socket, std::shared_ptr<TlsContext> tls) {
  std::shared_ptr<TlsStream> self(new TlsStream(std::move(socket), std::move(tls)));
  boost::system::error_code error;
  tcp::endpoint peer = self->socket_.remote_endpoint(error);
  self->peer_address_ = error ? "a peer that left" : from_asio(peer).to_string();
  self->ssl_ = self->tls_->accept_side(self->notes_);
  self->attach_descriptor();
  return self;
}

std::shared_ptr<TlsStream> TlsStream::dialling(asio::io_context& io, std::shared_ptr<TlsContext> tls,
                                               Protocol protocol) {
  std::shared_ptr<TlsStream> self(new TlsStream(tcp::socket(io), std::move(tls)));
  self->ssl_ = self->tls_->connect_side(self->notes_, protocol);
  return self;
}

void TlsStream::attach_descriptor() {
  tune(socket_);
  BIO* bio = new_socket_bio(socket_.native_handle());
  SSL_set_bio(ssl_.get(), bio, bio);  // takes ownership
}

asio::awaitable<Status> TlsStream::connect(Endpoint at) {
  peer_address_ = at.to_string();
  auto [error] = co_await socket_.async_connect(to_asio(at), kNoThrow);
  if (closed_) co_return fail(closed_error());
  if (error) co_return fail(ErrorCode::unavailable, "cannot connect to {}: {}", peer_address_, error.message());
  attach_descriptor();
  co_return Status{};
}

asio::awaitable<Status> TlsStream::wait(tcp::socket::wait_type what) {
  auto [error] = co_await socket_.async_wait(what, kNoThrow);
  if (!socket_.is_open()) co_return fail(closed_error());
  if (error) co_return fail(ErrorCode::unavailable, "the connection with {} broke: {}", peer_address_, error.message());
  co_return Status{};
}

/// What to do after OpenSSL returned no success: wait for the socket, take the orderly end, or give up.
asio::awaitable<Result<TlsStream::Step>> TlsStream::settle(int returned) {
  int system_error = errno;
  int ssl_error = SSL_get_error(ssl_.get(), returned);
  if (ssl_error == SSL_ERROR_ZERO_RETURN) co_return Step::ended;
  if (ssl_error != SSL_ERROR_WANT_READ && ssl_error != SSL_ERROR_WANT_WRITE) {
    co_return fail(describe_tls_failure(*tls_, notes_, ssl_error, system_error, peer_address_));
  }
  auto what = ssl_error == SSL_ERROR_WANT_READ ? tcp::socket::wait_read : tcp::socket::wait_write;
  Status ready = co_await wait(what);
  if (!ready) co_return fail(ready.error());
  co_return Step::again;
}

asio::awaitable<Status> TlsStream::handshake() {
  while (socket_.is_open()) {
    ERR_clear_error();
    errno = 0;
    int returned = SSL_do_handshake(ssl_.get());
    if (returned == 1) co_return Status{};
    auto step = co_await settle(returned);
    if (!step) co_return fail(step.error());
    if (*step == Step::ended) co_return fail(ErrorCode::unavailable, "{} closed the connection", peer_address_);
  }
  co_return fail(closed_error());
}

asio::awaitable<Result<std::size_t>> TlsStream::read(std::span<std::uint8_t> into) {
  std::size_t have = 0;
  while (socket_.is_open()) {
    ERR_clear_error();
    errno = 0;
    int got = SSL_read(ssl_.get(), into.data() + have, static_cast<int>(into.size() - have));
    if (got > 0) {
      have += static_cast<std::size_t>(got);
      if (have == into.size()) co_return have;
      continue;
    }
    // An end or an error behind these bytes shows again at the next call.
    if (have > 0) co_return have;
    auto step = co_await settle(got);
    if (!step) co_return fail(step.error());
    if (*step == Step::ended) co_return std::size_t{0};
  }
  co_return fail(closed_error());
}

asio::awaitable<Status> TlsStream::write(BytesView bytes) {
  while (!bytes.empty()) {
    if (!socket_.is_open()) co_return fail(closed_error());
    ERR_clear_error();
    errno = 0;
    int put = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (put > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      continue;
    }
    auto step = co_await settle(put);
    if (!step) co_return fail(step.error());
    if (*step == Step::ended) co_return fail(ErrorCode::unavailable, "{} closed the connection", peer_address_);
  }
  co_return Status{};
}

asio::awaitable<Status> TlsStream::finish_writing() {
  while (socket_.is_open()) {
    ERR_clear_error();
    errno = 0;
    int returned = SSL_shutdown(ssl_.get());
    if (returned >= 0) co_return Status{};
    auto step = co_await settle(returned);
    if (!step) co_return fail(step.error());
    if (*step == Step::ended) co_return Status{};
  }
  co_return fail(closed_error());
}

asio::awaitable<void> TlsStream::linger() {
  if (!socket_.is_open()) co_return;
  // Closing with unread bytes would reset the connection, and the peer would never see the alert.
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  close_after(kLinger, {ErrorCode::timed_out, "the refused peer stayed"});
  std::uint8_t discarded[4096];
  for (std::size_t seen = 0; seen < kLingerBytes && socket_.is_open();) {
    ssize_t got = recv(socket_.native_handle(), discarded, sizeof discarded, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) break;
    if (got > 0) seen += static_cast<std::size_t>(got);
    if (got > 0) continue;
    Status ready = co_await wait(tcp::socket::wait_read);
    if (!ready) break;
  }
  close({ErrorCode::denied, "refused"});
}

Error TlsStream::closed_error() const {
  return closed_.value_or(Error{ErrorCode::unavailable, "the connection with " + peer_address_ + " is closed"});
}

void TlsStream::close(Error reason) {
  if (!closed_) closed_ = std::move(reason);
  deadline_.cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void TlsStream::close_after(Duration delay, Error reason) {
  deadline_.expires_after(std::chrono::nanoseconds(delay.ns));
  deadline_.async_wait([weak = weak_from_this(), reason = std::move(reason)](boost::system::error_code error) {
    auto self = weak.lock();
    if (!error && self && self->deadline_.expiry() <= std::chrono::steady_clock::now()) self->close(reason);
  });
}

asio::awaitable<Result<std::shared_ptr<TlsStream>>> connect_tls(asio::io_context& io, std::shared_ptr<TlsContext> tls,
                                                                Endpoint at, Protocol protocol, Duration timeout) {
  auto stream = TlsStream::dialling(io, std::move(tls), protocol);
  Error late{ErrorCode::timed_out, fmt::format("{} did not answer within {}", at.to_string(), to_string(timeout))};
  stream->close_after(timeout, late);
  Status connected = co_await stream->connect(at);
  if (!connected) co_return fail(connected.error());
  Status shaken = co_await stream->handshake();
  if (!shaken) {
    stream->close(shaken.error());
    co_return fail(shaken.error());
  }
  stream->call_off_close();
  auto agreed = TlsContext::agreed_protocol(stream->ssl());
  if (!agreed) {
    stream->close(agreed.error());
    co_return fail(agreed.error().in(at.to_string()));
  }
  co_return stream;
}

}  // namespace abacus
