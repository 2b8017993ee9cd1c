// Frames between nodes: mutual TLS 1.3 connections, dialled on demand, pooled, batched and bounded.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/endpoint.h"
#include "base/time.h"
#include "runtime/net/identity.h"

namespace boost::asio {
class io_context;
}
namespace spdlog {
class logger;
}

namespace abacus {

/// Limits and times. The defaults suit an agent; tests shorten the times.
struct TransportOptions {
  Endpoint listen;                  ///< Where to listen. Port 0 lets the system choose.
  std::vector<Certificate> paired;  ///< Organisations whose nodes are welcome besides one's own.
  std::size_t max_connections =
      256;                           ///< Control connections, dialled and accepted; the least recently used goes first.
  std::size_t max_handshakes = 128;  ///< Inbound handshakes at once; the oldest goes first.
  std::size_t max_queue_bytes = 4 << 20;    ///< Frames waiting for one peer.
  Duration handshake_timeout = seconds(5);  ///< For connecting and the handshake together.
  Duration idle_timeout = seconds(60);      ///< A connection without frames, unless kept, is closed.
  Duration drain_timeout = seconds(2);      ///< How long a closing connection waits for the peer to finish.
  Duration backoff_min = milliseconds(50);  ///< Before dialling again after a failure; doubles with each one.
  Duration backoff_max = seconds(5);
  std::shared_ptr<spdlog::logger> log;  ///< Refusals and broken connections are logged here; may be null.
};

/// Counters since the start, and two gauges.
struct TransportStats {
  std::uint64_t frames_in = 0, frames_out = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;  ///< Of frames, headers included, before encryption.
  std::uint64_t reads = 0, writes = 0;        ///< Batches: frames_out / writes is the batching achieved.
  std::uint64_t handshakes = 0;               ///< Finished ones, both directions, every protocol.
  std::uint64_t rejected = 0;                 ///< Inbound connections refused before any application byte.
  std::uint64_t dials_failed = 0;
  std::uint64_t dropped_frames = 0;  ///< Never written: full queue, failed dial, unknown endpoint, oversize.
  std::uint64_t bulk_served = 0;     ///< Bulk requests answered here.
  std::uint64_t bulk_bytes_in = 0, bulk_bytes_out = 0;  ///< Bulk frames, headers included.
  std::uint64_t enrolled = 0, enrolments_refused = 0;   ///< As an organisation's authority.
  std::size_t connections = 0;                          ///< Control connections now open (gauge).
  std::size_t peers = 0;  ///< Peers remembered: connected, being dialled or in back-off (gauge).
};

struct TransportHandlers {
  /// Frames from one peer, as many as one read brought, in the order in which that peer sent them on that connection.
  std::function<void(const PeerIdentity&, std::vector<Bytes>)> on_frames;

  /// Frames to this node were dropped or may not have arrived: dialling failed, the connection broke, or its queue is
  /// full. Never called from inside send(); at most once per peer for each turn of the loop. A connection that both
  /// sides closed in order, because idle or doubled, loses nothing and is not reported.
  std::function<void(const NodeId&, const Error&)> on_lost;
};

struct NetContext;
class Listener;
class PeerPool;

/// One node's connections to its peers. Everything here, handlers included, runs on the one thread that runs the
/// io_context; no member may be called from another. Frames are opaque and delivered at most once. The order between
/// two nodes is kept on one connection, and may break where one connection takes over from another.
///
/// Back-pressure: what is sent to a slow peer waits in that peer's queue, up to max_queue_bytes. Beyond it the newest
/// frame is dropped, counted and reported by on_lost: the market's messages are perishable and their senders retry.
class Transport {
 public:
  /// Starts to listen. `io` must outlive the transport.
  /// Errors: `already_exists` (the port is taken), `denied` (a privileged port), `invalid` (not an address of this
  /// machine), each saying what to choose instead.
  static Result<std::unique_ptr<Transport>> start(boost::asio::io_context& io, const NodeIdentity& identity,
                                                  TransportOptions options, TransportHandlers handlers);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  /// Stops and closes everything; no handler is called afterwards. Dials under way end by themselves, so
  /// io_context::run may stay busy for handshake_timeout or backoff_max; io_context::stop cuts that short.
  ~Transport();

  /// Where it listens, with the actual port.
  Endpoint local_endpoint() const;

  /// Queues a frame (at most kMaxControlFrameBytes) for a node. Uses the connection to it, whoever dialled; else dials
  /// `at`; with no connection and `at` unknown the frame is lost at once. Failures are told by on_lost.
  void send(const NodeId& to, const Endpoint& at, Bytes frame);

  /// While kept, a peer's connection is neither evicted nor closed for idleness. Calls nest. Dials nothing by itself.
  void keep(const NodeId& peer);
  void unkeep(const NodeId& peer);

  /// True when a connection to this peer is open.
  bool connected(const NodeId& peer) const;

  const TransportStats& stats() const;

  /// For serve_bulk, BulkClient and serve_enrolment, which share the port and the identity.
  const std::shared_ptr<NetContext>& context() const { return context_; }
  Listener& listener() { return *listener_; }

 private:
  Transport() = default;
  std::shared_ptr<NetContext> context_;
  std::shared_ptr<Listener> listener_;
  std::shared_ptr<PeerPool> pool_;
};

}  // namespace abacus
