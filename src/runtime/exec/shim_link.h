// The agent's end of the socket to one shim: messages both ways, never blocking.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/exec/wire.h"

namespace abacus {

/// Path of a socket in `directory` that works however long the directory's name is: unix addresses hold 107 bytes.
/// Valid while the object lives.
struct SocketPath {
  int directory_fd = -1;
  std::string path;

  explicit SocketPath(const std::string& directory);
  SocketPath(const SocketPath&) = delete;
  SocketPath& operator=(const SocketPath&) = delete;
  ~SocketPath();
};

/// A listening socket in a lease's directory, for its shim to inherit. The caller owns the descriptor.
Result<int> listen_in(const std::string& directory);

/// One connection. Lives in a shared_ptr; callbacks stop with close().
class ShimLink : public std::enable_shared_from_this<ShimLink> {
 public:
  struct Callbacks {
    std::function<void(const wire::Message&)> message;
    std::function<void()> lost;  ///< The connection ended; called once, not after close().
  };

  ShimLink(boost::asio::any_io_executor executor, Callbacks callbacks);

  /// Connects and says Hello. Errors: `not_found` when no shim listens there; `unavailable` when it may later.
  Status connect(const std::string& directory);

  /// Queues a message, or bytes made by wire::encode.
  void send(const wire::Message& message);
  void send_encoded(std::string_view frame);

  /// Bytes queued and not yet taken by the socket.
  std::size_t pending_bytes() const { return queued_.size() + writing_.size(); }

  void close();

 private:
  void read();
  void on_read(std::size_t count);
  void write();
  void fail_link();

  boost::asio::local::stream_protocol::socket socket_;
  Callbacks callbacks_;
  wire::FrameReader frames_;
  std::array<char, 16384> block_{};
  std::string queued_;
  std::string writing_;
  bool closed_ = false;
};

}  // namespace abacus
