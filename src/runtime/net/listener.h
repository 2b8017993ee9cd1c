// The one listening port: accepts, shakes hands, and passes each connection to whoever serves its protocol.
// Internal to runtime/net.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <list>
#include <map>

#include "runtime/net/net_context.h"
#include "runtime/net/tls_stream.h"

namespace abacus {

/// Lives in a shared_ptr, which its coroutines hold until stop().
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  /// Takes an authenticated connection; `peer` is empty for enrolment, where nobody is authenticated.
  using Handler = std::function<void(std::shared_ptr<TlsStream>, PeerIdentity peer)>;

  /// Errors: as Transport::start.
  static Result<std::shared_ptr<Listener>> open(std::shared_ptr<NetContext> context);

  /// Offers `protocol` from now on.
  void serve(Protocol protocol, Handler handler);

  void stop();
  Endpoint local_endpoint() const;

 private:
  Listener(std::shared_ptr<NetContext> context, boost::asio::ip::tcp::acceptor acceptor);
  boost::asio::awaitable<void> accept_loop();
  boost::asio::awaitable<void> welcome(std::shared_ptr<TlsStream> stream);
  boost::asio::awaitable<Status> authenticate(std::shared_ptr<TlsStream> stream);
  Status dispatch(const std::shared_ptr<TlsStream>& stream);
  void make_room();

  std::shared_ptr<NetContext> context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::map<Protocol, Handler> handlers_;
  std::list<std::shared_ptr<TlsStream>> shaking_;  // oldest first
};

}  // namespace abacus
