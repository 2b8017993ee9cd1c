// Bulk data between nodes: requests and responses on connections of their own, so that they delay no control frame.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "runtime/net/transport.h"

namespace abacus {

/// Answers one request of an authenticated peer. Both sides' bytes are opaque here; errors are the answer's matter. An
/// exception, or an answer above kMaxBulkFrameBytes, closes the connection. Runs on the transport's thread: what blocks
/// is to be moved elsewhere and awaited.
using BulkHandler = std::function<boost::asio::awaitable<Bytes>(PeerIdentity, Bytes request)>;

/// Serves bulk requests on the transport's port. One connection's requests are answered one after the other, in order;
/// while one is being answered the next is not read. Call at most once.
void serve_bulk(Transport& transport, BulkHandler handler);

class BulkPool;

/// Asks other nodes. One connection for each peer, dialled on demand and closed after 30 s of rest; at most 64, of
/// which the one at rest for the longest goes first. Same thread rule as Transport, which must outlive it.
class BulkClient {
 public:
  explicit BulkClient(Transport& transport);
  BulkClient(const BulkClient&) = delete;
  BulkClient& operator=(const BulkClient&) = delete;
  /// Requests under way end with `unavailable`.
  ~BulkClient();

  /// Sends a request (at most kMaxBulkFrameBytes) and waits for its answer. Several may be under way to one peer; they
  /// are sent at once and answered in order. The effect at the peer is unknown after an error.
  /// Errors: `invalid` (too large), `exhausted` (64 under way to this peer, or every connection busy), `timed_out`,
  /// `unavailable` (not reached, or broken off), `denied` and `not_found` (another node answers there).
  boost::asio::awaitable<Result<Bytes>> request(NodeId peer, Endpoint at, Bytes request, Duration timeout);

 private:
  std::shared_ptr<BulkPool> pool_;
};

}  // namespace abacus
