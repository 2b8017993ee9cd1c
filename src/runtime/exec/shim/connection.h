// The shim's end of the socket to its agent: frames in, messages out, never blocking.
#pragma once

#include <optional>
#include <string>

#include "runtime/exec/wire.h"

namespace abacus::shim {

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(); }

  /// Takes over a fresh non-blocking socket, dropping the one before.
  void open(int fd);
  void close();

  int fd() const { return fd_; }
  bool connected() const { return fd_ >= 0; }

  /// Takes in what has arrived, a bounded amount. False when the other end is gone.
  bool receive();

  /// The next message; none when there is no whole one. After that, `broken` says whether the bytes were no protocol.
  std::optional<wire::Message> next();
  bool broken() const { return broken_; }

  /// Queues; nothing leaves before flush. Without a connection the message is dropped: the next Hello lists the state.
  void send(const wire::Message& message);

  /// Sends what the socket takes. False when the other end is gone.
  bool flush();
  bool has_pending() const { return sent_ < out_.size(); }

  /// So much is waiting for a slow agent that no more of its commands should be read.
  bool congested() const { return out_.size() - sent_ > kPendingMaxBytes; }

 private:
  static constexpr std::size_t kPendingMaxBytes = 1u << 20;

  int fd_ = -1;
  bool broken_ = false;
  wire::FrameReader in_;
  std::string out_;
  std::size_t sent_ = 0;
};

}  // namespace abacus::shim
