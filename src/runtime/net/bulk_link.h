// One bulk connection to one peer: requests out, answers in the same order. Internal to runtime/net.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <functional>

#include "runtime/net/frame.h"
#include "runtime/net/net_context.h"
#include "runtime/net/tls_stream.h"

namespace abacus {

constexpr std::size_t kMaxOutstanding = 64;
constexpr Duration kBulkRest = seconds(30);

/// Lives in a shared_ptr, which its coroutines hold.
class BulkLink : public std::enable_shared_from_this<BulkLink> {
 public:
  using Clock = std::chrono::steady_clock;

  BulkLink(std::shared_ptr<NetContext> context, NodeId peer, Endpoint at, std::function<void(BulkLink&)> on_end);

  /// Starts to dial.
  void start();

  /// Errors: see BulkClient::request.
  boost::asio::awaitable<Result<Bytes>> request(Bytes bytes, Duration timeout);

  /// Ends every request with this error.
  void close(Error reason);

  const NodeId& peer() const { return peer_; }
  bool resting() const { return waiting_.empty(); }
  Clock::time_point last_used() const { return last_used_; }

 private:
  struct Waiter {
    std::optional<Result<Bytes>> answer;
    boost::asio::steady_timer done;
  };

  boost::asio::awaitable<void> run();
  boost::asio::awaitable<Status> dial();
  boost::asio::awaitable<void> read_loop();
  boost::asio::awaitable<Status> read_answers();
  boost::asio::awaitable<Status> write_requests();
  Status hand_out(std::vector<Bytes> answers);

  std::shared_ptr<NetContext> context_;
  NodeId peer_;
  Endpoint at_;
  std::function<void(BulkLink&)> on_end_;
  std::shared_ptr<TlsStream> stream_;
  std::deque<Bytes> requests_;                   // not yet written
  std::deque<std::shared_ptr<Waiter>> waiting_;  // in the order of their requests
  std::optional<Error> ended_;
  boost::asio::steady_timer wake_;
  Clock::time_point last_used_ = Clock::now(), last_heard_ = last_used_;
};

}  // namespace abacus
