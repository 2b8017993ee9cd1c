// Joins the listener and the pool of peers over one TLS context.
#include "runtime/net/transport.h"

#include "runtime/net/listener.h"
#include "runtime/net/net_context.h"
#include "runtime/net/peer_pool.h"

namespace abacus {

Result<std::unique_ptr<Transport>> Transport::start(boost::asio::io_context& io, const NodeIdentity& identity,
                                                    TransportOptions options, TransportHandlers handlers) {
  auto tls = TlsContext::for_member(identity, options.paired);
  std::unique_ptr<Transport> self(new Transport);
  self->context_ = std::make_shared<NetContext>(NetContext{io, std::move(tls), identity, std::move(options)});
  TRY(self->listener_, Listener::open(self->context_));
  self->pool_ = std::make_shared<PeerPool>(self->context_, std::move(handlers));
  self->pool_->start();
  self->listener_->serve(Protocol::control, [pool = self->pool_](std::shared_ptr<TlsStream> stream, PeerIdentity peer) {
    pool->adopt(std::move(stream), std::move(peer), false);
  });
  return self;
}

Transport::~Transport() {
  if (listener_) listener_->stop();
  if (pool_) pool_->stop();
  for (const auto& stop : context_->on_stop) stop();
  context_->on_stop.clear();
}

Endpoint Transport::local_endpoint() const { return listener_->local_endpoint(); }

void Transport::send(const NodeId& to, const Endpoint& at, Bytes frame) { pool_->send(to, at, std::move(frame)); }

void Transport::keep(const NodeId& peer) { pool_->keep(peer); }

void Transport::unkeep(const NodeId& peer) { pool_->unkeep(peer); }

bool Transport::connected(const NodeId& peer) const { return pool_->connected(peer); }

const TransportStats& Transport::stats() const { return context_->stats; }

}  // namespace abacus
