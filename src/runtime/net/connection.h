// One control connection: batches frames out, cuts frames in, ends in order or broken. Internal to runtime/net.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "runtime/net/frame.h"
#include "runtime/net/net_context.h"
#include "runtime/net/tls_stream.h"

namespace abacus {

class Connection;

/// Whoever owns the queues (PeerPool). Outlives its connections.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// Moves queued frames into `out`, in frames' form, until it holds about kBatchBytes or the queue is empty.
  virtual void fill(Connection& connection, Bytes& out) = 0;
  virtual void received(Connection& connection, std::vector<Bytes> frames) = 0;
  /// The connection takes no more frames; it is about to end in order.
  virtual void draining(Connection& connection) = 0;
  /// The connection is gone. `error` is null after an orderly end, in which nothing was lost.
  virtual void ended(Connection& connection, const Error* error) = 0;
};

constexpr std::size_t kBatchBytes = 64 * 1024;

/// Lives in a shared_ptr, which its two coroutines hold; `owner` is told the end exactly once.
///
/// An orderly end: one side drains (writes what it has begun, then close_notify, and goes on reading), the other side
/// sees the end of the stream and drains too; then both close. So nothing under way is lost.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(std::shared_ptr<NetContext> context, std::shared_ptr<ConnectionOwner> owner,
             std::shared_ptr<TlsStream> stream, PeerIdentity peer, bool dialled_here);

  void start();

  /// There may be something to fill from. Cheap when the writer is busy.
  void wake();

  /// Ends the connection in order, within the drain timeout.
  void drain();

  /// Ends it at once.
  void close(Error reason) { stream_->close(std::move(reason)); }

  const PeerIdentity& peer() const { return peer_; }
  bool dialled_here() const { return dialled_here_; }
  Clock::time_point opened_at() const { return opened_at_; }
  Clock::time_point last_used() const { return last_used_; }
  /// True once the peer sent anything: only then has it accepted this side's certificate.
  bool heard() const { return heard_; }
  const std::string& peer_address() const { return stream_->peer_address(); }

 private:
  boost::asio::awaitable<void> read_loop();
  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<Status> write_batch();
  boost::asio::awaitable<void> wait_for_work();
  Status take(BytesView bytes);
  void leave(Error* error);

  std::shared_ptr<NetContext> context_;
  std::shared_ptr<ConnectionOwner> owner_;
  std::shared_ptr<TlsStream> stream_;
  PeerIdentity peer_;
  bool dialled_here_;
  bool draining_ = false, waiting_ = false, heard_ = false;
  int coroutines_ = 0;
  FrameParser parser_{kMaxControlFrameBytes};
  Bytes batch_;
  std::optional<Error> error_;
  boost::asio::steady_timer wake_;
  Clock::time_point opened_at_ = Clock::now(), last_used_ = opened_at_;
};

}  // namespace abacus
