// The answering side of runtime/net/bulk.h.
#include <set>

#include "runtime/net/bulk.h"
#include "runtime/net/frame.h"
#include "runtime/net/listener.h"
#include "runtime/net/net_context.h"

namespace abacus {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kMaxServed = 128;        // connections at once
constexpr Duration kServerIdle = seconds(90);  // longer than a client's rest, so that clients close first

class BulkServer : public std::enable_shared_from_this<BulkServer> {
 public:
  BulkServer(std::shared_ptr<NetContext> context, BulkHandler handler)
      : context_(std::move(context)), handler_(std::move(handler)) {}

  void adopt(std::shared_ptr<TlsStream> stream, PeerIdentity peer) {
    if (streams_.size() >= kMaxServed) {
      context_->warn("refused a bulk connection of node {}: {} are open", peer.node.short_string(), streams_.size());
      return stream->close({ErrorCode::exhausted, "too many bulk connections"});
    }
    streams_.insert(stream);
    spawn(context_->io, shared_from_this(), serve(std::move(stream), std::move(peer)));
  }

  void stop() {
    for (const auto& stream : streams_) stream->close({ErrorCode::unavailable, "this agent stops"});
  }

 private:
  asio::awaitable<void> serve(std::shared_ptr<TlsStream> stream, PeerIdentity peer) {
    Status ended = co_await converse(stream, peer);
    if (!ended) context_->warn("bulk connection of node {}: {}", peer.node.short_string(), ended.error().message);
    stream->close({ErrorCode::unavailable, "the bulk connection ended"});
    streams_.erase(stream);
  }

  /// Until the peer closes.
  asio::awaitable<Status> converse(std::shared_ptr<TlsStream> stream, const PeerIdentity& peer) {
    FrameParser parser(kMaxBulkFrameBytes);
    const Error idle{ErrorCode::timed_out, "closed, because idle"};
    for (;;) {
      stream->close_after(kServerIdle, idle);
      Result<std::size_t> got = co_await stream->read(context_->read_buffer);
      // Between two requests any end is an orderly one.
      if (!got && parser.mid_frame()) co_return fail(got.error());
      if (!got || *got == 0) co_return Status{};
      std::vector<Bytes> requests;
      Status parsed = parser.feed(BytesView(context_->read_buffer).first(*got), requests);
      context_->stats.bulk_bytes_in += *got;
      for (Bytes& request : requests) {
        if (!stream->open()) co_return Status{};
        stream->close_after(kServerIdle, idle);
        Status answered = co_await answer(*stream, peer, std::move(request));
        if (!answered) co_return answered;
      }
      if (!parsed) co_return parsed;
    }
  }

  asio::awaitable<Status> answer(TlsStream& stream, const PeerIdentity& peer, Bytes request) {
    Bytes response;
    try {
      asio::awaitable<Bytes> work = handler_(peer, std::move(request));
      response = co_await std::move(work);
    } catch (const std::exception& exception) {
      co_return fail(ErrorCode::internal, "the bulk handler failed: {}", exception.what());
    }
    if (response.size() > kMaxBulkFrameBytes) {
      co_return fail(ErrorCode::internal, "a bulk answer of {} bytes is above the limit of {}", response.size(),
                     kMaxBulkFrameBytes);
    }
    ++context_->stats.bulk_served;
    context_->stats.bulk_bytes_out += response.size() + kFrameHeaderBytes;
    Bytes header;
    append_frame_header(header, response.size());
    Status written = co_await stream.write(header);
    if (!written) co_return written;
    co_return co_await stream.write(response);
  }

  std::shared_ptr<NetContext> context_;
  BulkHandler handler_;
  std::set<std::shared_ptr<TlsStream>> streams_;
};

}  // namespace

void serve_bulk(Transport& transport, BulkHandler handler) {
  auto server = std::make_shared<BulkServer>(transport.context(), std::move(handler));
  transport.context()->on_stop.push_back([server] { server->stop(); });
  transport.listener().serve(Protocol::bulk, [server](std::shared_ptr<TlsStream> stream, PeerIdentity peer) {
    server->adopt(std::move(stream), std::move(peer));
  });
}

}  // namespace abacus
