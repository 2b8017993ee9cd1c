// The control connections of one node: a queue and at most one connection for each peer, dialled on demand, bounded.
// Internal to runtime/net.
#pragma once

#include <deque>
#include <unordered_map>

#include "runtime/net/connection.h"
#include "runtime/net/node_id_hash.h"

namespace abacus {

/// Lives in a shared_ptr, which its coroutines hold; silent after stop().
class PeerPool : public ConnectionOwner, public std::enable_shared_from_this<PeerPool> {
 public:
  PeerPool(std::shared_ptr<NetContext> context, TransportHandlers handlers);

  void start();
  void stop();

  void send(const NodeId& to, const Endpoint& at, Bytes frame);
  void keep(const NodeId& peer) { ++kept_[peer]; }
  void unkeep(const NodeId& peer);
  bool connected(const NodeId& peer) const;

  /// A new connection with an authenticated peer.
  void adopt(std::shared_ptr<TlsStream> stream, PeerIdentity peer, bool dialled_here);

  void fill(Connection& connection, Bytes& out) override;
  void received(Connection& connection, std::vector<Bytes> frames) override;
  void draining(Connection& connection) override;
  void ended(Connection& connection, const Error* error) override;

 private:
  using Clock = Connection::Clock;

  struct Peer {
    Endpoint at;
    std::deque<Bytes> queue;
    std::size_t queued_bytes = 0;
    std::shared_ptr<Connection> current;
    bool dialling = false;
    int failures = 0;
    Clock::time_point retry_at{};
  };

  boost::asio::awaitable<void> dial(NodeId to, Clock::time_point not_before);
  boost::asio::awaitable<Status> dial_once(NodeId to, Endpoint at);
  boost::asio::awaitable<void> sweep_loop();
  void begin_dial(const NodeId& to, Peer& peer);
  void dial_failed(const NodeId& to, Error error);
  void drop_queue(const NodeId& to, Peer& peer, Error error);
  void drop_frame(const NodeId& to, Error error);
  void report_lost(const NodeId& to, Error error);
  void flush_losses();
  bool prevails(const Connection& fresh, const Connection& old) const;
  bool make_room();
  void sweep();
  void end_expired();
  std::size_t used_slots() const;

  std::shared_ptr<NetContext> context_;
  TransportHandlers handlers_;
  std::unordered_map<NodeId, Peer, NodeIdHash> peers_;
  std::unordered_map<NodeId, int, NodeIdHash> kept_;
  std::unordered_map<NodeId, Error, NodeIdHash> losses_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> open_;  // current and draining ones
  std::size_t dials_ = 0;
  boost::asio::steady_timer sweep_timer_;
  bool stopped_ = false;
};

}  // namespace abacus
