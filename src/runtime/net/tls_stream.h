// One TLS connection over one socket, as coroutines. OpenSSL works on the descriptor itself: its buffers are freed
// whenever nothing is under way, so an idle connection costs some 20 kB. Internal to runtime/net.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "base/endpoint.h"
#include "base/time.h"
#include "runtime/net/tls_context.h"

namespace abacus {

/// Lives in a shared_ptr. One thread; at most one read and one write at a time.
class TlsStream : public std::enable_shared_from_this<TlsStream> {
 public:
  static std::shared_ptr<TlsStream> accepted(boost::asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> tls);
  static std::shared_ptr<TlsStream> dialling(boost::asio::io_context& io, std::shared_ptr<TlsContext> tls,
                                             Protocol protocol);
  ~TlsStream();

  /// Opens the TCP connection of a dialling stream. Errors: `unavailable`, with the system's reason.
  boost::asio::awaitable<Status> connect(Endpoint at);

  /// Errors: `denied` (this side refused the peer, or the peer this side), `unsupported` (no common protocol or
  /// version), `unavailable` (broken off), each with who and why.
  boost::asio::awaitable<Status> handshake();

  /// Takes what has arrived, up to the size of `into`; waits only while there is nothing. 0 means that the peer closed
  /// in order. Nothing is written to `into` before the last suspension, so streams of one thread may share it.
  boost::asio::awaitable<Result<std::size_t>> read(std::span<std::uint8_t> into);

  /// Hands all of it to the system. `bytes` stays as it is meanwhile.
  boost::asio::awaitable<Status> write(BytesView bytes);

  /// Tells the peer that nothing more follows (close_notify); reading goes on.
  boost::asio::awaitable<Status> finish_writing();

  /// After a failed handshake: sends what TLS has to say, then waits a moment so that the peer can read it.
  boost::asio::awaitable<void> linger();

  /// Closes at once; whatever is under way ends with `reason`. The first reason counts.
  void close(Error reason);

  /// Closes with `reason` after `delay`, unless called off or set anew.
  void close_after(Duration delay, Error reason);
  void call_off_close() { deadline_.expires_at(std::chrono::steady_clock::time_point::max()); }

  bool open() const { return socket_.is_open(); }
  SSL* ssl() { return ssl_.get(); }
  const TlsContext& tls() const { return *tls_; }
  /// "10.0.0.7:41234", for logs.
  const std::string& peer_address() const { return peer_address_; }

 private:
  enum class Step { again, ended };  // `again`: the socket became ready, call OpenSSL once more

  TlsStream(boost::asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> tls);
  void attach_descriptor();
  boost::asio::awaitable<Status> wait(boost::asio::ip::tcp::socket::wait_type what);
  boost::asio::awaitable<Result<Step>> settle(int returned);
  Error closed_error() const;

  std::shared_ptr<TlsContext> tls_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  std::string peer_address_;
  HandshakeNotes notes_;
  std::optional<Error> closed_;
  SslPtr ssl_;
};

/// Connects to `at` and shakes hands, all within `timeout`. Errors: as handshake(), `unavailable` when nothing answers.
boost::asio::awaitable<Result<std::shared_ptr<TlsStream>>> connect_tls(boost::asio::io_context& io,
                                                                       std::shared_ptr<TlsContext> tls, Endpoint at,
                                                                       Protocol protocol, Duration timeout);

}  // namespace abacus
