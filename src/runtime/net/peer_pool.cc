// Which connection of two prevails, when to dial again, and whose connection makes room.
#include "runtime/net/peer_pool.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <vector>

#include "base/check.h"

namespace abacus {

namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kPeersPerConnection = 4;  // peers remembered without a connection, for their back-off

std::chrono::nanoseconds to_chrono(Duration duration) { return std::chrono::nanoseconds(duration.ns); }

WallTime wall_now() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count()};
}

}  // namespace

PeerPool::PeerPool(std::shared_ptr<NetContext> context, TransportHandlers handlers)
    : context_(std::move(context)), handlers_(std::move(handlers)), sweep_timer_(context_->io) {}

void PeerPool::start() { spawn(context_->io, shared_from_this(), sweep_loop()); }

void PeerPool::stop() {
  stopped_ = true;
  sweep_timer_.cancel();
  for (auto& [raw, connection] : std::exchange(open_, {}))
    connection->close({ErrorCode::unavailable, "this agent stops"});
  peers_.clear();
}

bool PeerPool::connected(const NodeId& peer) const {
  auto found = peers_.find(peer);
  return found != peers_.end() && found->second.current != nullptr;
}

void PeerPool::unkeep(const NodeId& peer) {
  auto found = kept_.find(peer);
  CHECK_MSG(found != kept_.end(), "unkeep without keep");
  if (--found->second == 0) kept_.erase(found);
}

void PeerPool::send(const NodeId& to, const Endpoint& at, Bytes frame) {
  if (stopped_) return;
  if (frame.size() > kMaxControlFrameBytes) {
    return drop_frame(to, {ErrorCode::invalid, fmt::format("a frame of {} bytes for node {} is above the limit of {}",
                                                           frame.size(), to.short_string(), kMaxControlFrameBytes)});
  }
  auto found = peers_.find(to);
  bool reachable = at.known() || (found != peers_.end() && (found->second.current || found->second.at.known()));
  if (!reachable || to == context_->identity.node_id()) {
    return drop_frame(to, {ErrorCode::not_found,
                           fmt::format("node {} is not connected, and no endpoint of it is known", to.short_string())});
  }
  if (found == peers_.end()) {
    if (peers_.size() >= context_->options.max_connections * kPeersPerConnection) {
      return drop_frame(to, {ErrorCode::exhausted, fmt::format("too many peers to remember ({})", peers_.size())});
    }
    found = peers_.try_emplace(to).first;
  }
  Peer& peer = found->second;
  if (at.known()) peer.at = at;
  std::size_t size = frame.size() + kFrameHeaderBytes;
  if (peer.queued_bytes + size > context_->options.max_queue_bytes) {
    return drop_frame(to,
                      {ErrorCode::exhausted, fmt::format("the queue for node {} is full ({} bytes wait): it reads too "
                                                         "slowly",
                                                         to.short_string(), peer.queued_bytes)});
  }
  peer.queued_bytes += size;
  peer.queue.push_back(std::move(frame));
  if (peer.current) return peer.current->wake();
  begin_dial(to, peer);
}

void PeerPool::fill(Connection& connection, Bytes& out) {
  auto found = peers_.find(connection.peer().node);
  if (found == peers_.end() || found->second.current.get() != &connection) return;
  Peer& peer = found->second;
  while (!peer.queue.empty() && (out.empty() || out.size() + peer.queue.front().size() <= kBatchBytes)) {
    append_frame(out, peer.queue.front());
    peer.queued_bytes -= peer.queue.front().size() + kFrameHeaderBytes;
    peer.queue.pop_front();
    ++context_->stats.frames_out;
  }
}

void PeerPool::received(Connection& connection, std::vector<Bytes> frames) {
  if (stopped_) return;
  if (auto found = peers_.find(connection.peer().node); found != peers_.end()) found->second.failures = 0;
  handlers_.on_frames(connection.peer(), std::move(frames));
}

// --- connections come

void PeerPool::adopt(std::shared_ptr<TlsStream> stream, PeerIdentity identity, bool dialled_here) {
  if (stopped_) return stream->close({ErrorCode::unavailable, "this agent stops"});
  NodeId node = identity.node;
  // A dial holds its slot since it began; a second connection with one peer soon ends the first.
  bool has_slot = dialled_here || connected(node) || make_room();
  if (!has_slot) {
    context_->warn("no room for {} at {}: all {} connections are in use", node.short_string(), stream->peer_address(),
                   context_->options.max_connections);
    return stream->close({ErrorCode::exhausted, "no room for another connection"});
  }
  auto fresh =
      std::make_shared<Connection>(context_, shared_from_this(), std::move(stream), std::move(identity), dialled_here);
  open_[fresh.get()] = fresh;
  context_->stats.connections = open_.size();
  Peer& peer = peers_[node];
  std::shared_ptr<Connection> old = peer.current;
  bool replaces = !old || prevails(*fresh, *old);
  if (replaces) peer.current = fresh;
  fresh->start();
  if (!replaces) return fresh->drain();
  if (old) old->drain();
}

/// Two connections with one peer: both sides must keep the same one. When both dialled at about the same time, the one
/// that the smaller id dialled stays; otherwise the peer dialled because it had lost the old one.
bool PeerPool::prevails(const Connection& fresh, const Connection& old) const {
  bool together = fresh.opened_at() - old.opened_at() < to_chrono(context_->options.handshake_timeout);
  if (fresh.dialled_here() == old.dialled_here() || !together) return true;
  bool smaller_here = context_->identity.node_id() < fresh.peer().node;
  return fresh.dialled_here() == smaller_here;
}

std::size_t PeerPool::used_slots() const { return open_.size() + dials_; }

/// Drains the least recently used connection when the pool is full. False when every one is kept or busy.
bool PeerPool::make_room() {
  if (used_slots() < context_->options.max_connections) return true;
  Peer* oldest = nullptr;
  for (auto& [node, peer] : peers_) {
    if (!peer.current || !peer.queue.empty() || kept_.contains(node)) continue;
    if (oldest == nullptr || peer.current->last_used() < oldest->current->last_used()) oldest = &peer;
  }
  if (oldest == nullptr) return false;
  std::exchange(oldest->current, nullptr)->drain();
  return true;
}

// --- connections go

void PeerPool::draining(Connection& connection) {
  auto found = peers_.find(connection.peer().node);
  if (found == peers_.end() || found->second.current.get() != &connection) return;
  Peer& peer = found->second;
  peer.current = nullptr;
  if (!peer.queue.empty()) begin_dial(found->first, peer);
}

void PeerPool::ended(Connection& connection, const Error* error) {
  if (stopped_) return;
  auto keep_alive = open_.extract(&connection);
  context_->stats.connections = open_.size();
  NodeId node = connection.peer().node;
  auto found = peers_.find(node);
  bool was_current = found != peers_.end() && found->second.current.get() == &connection;
  if (was_current) found->second.current = nullptr;
  if (error == nullptr) return;
  // A client's handshake ends before the server has judged its certificate: refused then, it was no connection.
  bool young = Clock::now() - connection.opened_at() < to_chrono(context_->options.handshake_timeout);
  if (was_current && connection.dialled_here() && !connection.heard() && young) return dial_failed(node, *error);
  context_->warn("node {}: {}", node.short_string(), error->message);
  report_lost(node, *error);
  if (was_current && !found->second.queue.empty()) begin_dial(node, found->second);
}

// --- dialling

void PeerPool::begin_dial(const NodeId& to, Peer& peer) {
  if (peer.dialling || peer.current) return;
  if (!peer.at.known()) {
    return drop_queue(
        to, peer,
        {ErrorCode::not_found, fmt::format("node {} left, and no endpoint of it is known", to.short_string())});
  }
  if (!make_room()) {
    return drop_queue(to, peer,
                      {ErrorCode::exhausted, fmt::format("no room to connect to node {}: all {} connections "
                                                         "are in use",
                                                         to.short_string(), context_->options.max_connections)});
  }
  peer.dialling = true;
  ++dials_;
  spawn(context_->io, shared_from_this(), dial(to, peer.retry_at));
}

asio::awaitable<void> PeerPool::dial(NodeId to, Clock::time_point not_before) {
  asio::steady_timer timer(context_->io, not_before);
  if (not_before > Clock::now()) co_await timer.async_wait(kNoThrow);
  auto found = peers_.find(to);
  bool needed = !stopped_ && found != peers_.end() && !found->second.current;
  Status dialled;
  if (needed) dialled = co_await dial_once(to, found->second.at);
  --dials_;
  if (stopped_) co_return;
  found = peers_.find(to);
  if (found == peers_.end()) co_return;
  found->second.dialling = false;
  if (!dialled && found->second.current) co_return;  // the peer dialled meanwhile
  if (!dialled) co_return dial_failed(to, dialled.error());
  if (!found->second.queue.empty()) begin_dial(to, found->second);
}

asio::awaitable<Status> PeerPool::dial_once(NodeId to, Endpoint at) {
  auto stream =
      co_await connect_tls(context_->io, context_->tls, at, Protocol::control, context_->options.handshake_timeout);
  if (!stream) co_return fail(stream.error());
  auto peer = context_->tls->peer_identity((*stream)->ssl());
  if (peer && peer->node != to) {
    peer = fail(ErrorCode::not_found, "at {} answers node {}, not node {}", at.to_string(), peer->node.short_string(),
                to.short_string());
  }
  if (!peer) {
    (*stream)->close(peer.error());
    co_return fail(peer.error());
  }
  ++context_->stats.handshakes;
  adopt(*stream, *peer, true);
  co_return Status{};
}

void PeerPool::dial_failed(const NodeId& to, Error error) {
  ++context_->stats.dials_failed;
  context_->warn("node {}: {}", to.short_string(), error.message);
  Peer& peer = peers_.at(to);
  Duration delay = context_->options.backoff_min * (std::int64_t{1} << std::min(peer.failures, 20));
  peer.retry_at = Clock::now() + to_chrono(std::min(delay, context_->options.backoff_max));
  ++peer.failures;
  drop_queue(to, peer, error);
  report_lost(to, std::move(error));
}

// --- losses

void PeerPool::drop_queue(const NodeId& to, Peer& peer, Error error) {
  context_->stats.dropped_frames += peer.queue.size();
  peer.queue.clear();
  peer.queued_bytes = 0;
  report_lost(to, std::move(error));
}

void PeerPool::drop_frame(const NodeId& to, Error error) {
  ++context_->stats.dropped_frames;
  report_lost(to, std::move(error));
}

/// Told in a later turn of the loop, so that no handler runs inside send(); the first reason of a turn counts.
void PeerPool::report_lost(const NodeId& to, Error error) {
  bool first = losses_.empty();
  losses_.try_emplace(to, std::move(error));
  if (first) asio::post(context_->io, [self = shared_from_this()] { self->flush_losses(); });
}

void PeerPool::flush_losses() {
  for (auto& [node, error] : std::exchange(losses_, {})) {
    if (stopped_) return;
    handlers_.on_lost(node, error);
  }
}

// --- housekeeping

asio::awaitable<void> PeerPool::sweep_loop() {
  auto period =
      std::min(std::chrono::nanoseconds(std::chrono::seconds(1)), to_chrono(context_->options.idle_timeout) / 4);
  while (!stopped_) {
    sweep_timer_.expires_after(period);
    co_await sweep_timer_.async_wait(kNoThrow);
    if (stopped_) break;
    end_expired();
    sweep();
  }
}

/// A certificate is checked in the handshake; who could not shake hands any more is not spoken with any longer either.
void PeerPool::end_expired() {
  WallTime now = wall_now();
  std::vector<std::shared_ptr<Connection>> expired;
  for (const auto& [raw, connection] : open_) {
    if (now > connection->peer().valid_until) expired.push_back(connection);
  }
  for (const auto& connection : expired) {
    connection->close({ErrorCode::denied, fmt::format("its certificate expired on {}: it has to be enrolled again",
                                                      to_date_string(connection->peer().valid_until))});
  }
}

void PeerPool::sweep() {
  auto now = Clock::now();
  for (auto it = peers_.begin(); it != peers_.end();) {
    Peer& peer = it->second;
    bool idle = peer.current && peer.queue.empty() && !kept_.contains(it->first) &&
                now - peer.current->last_used() > to_chrono(context_->options.idle_timeout);
    if (idle) std::exchange(peer.current, nullptr)->drain();
    // Forgotten a while after its back-off ended, so that the next failure still counts as one more.
    bool forgettable = !peer.current && !peer.dialling && peer.queue.empty() &&
                       now > peer.retry_at + to_chrono(context_->options.backoff_max);
    it = forgettable ? peers_.erase(it) : std::next(it);
  }
  context_->stats.peers = peers_.size();
}

}  // namespace abacus
