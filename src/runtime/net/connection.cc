// One coroutine reads, one writes; each batch takes what waits at that moment.
#include "runtime/net/connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace abacus {

namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kKeepBatchBytes = 4 * 1024;  // an idle connection holds no larger buffer

}  // namespace

Connection::Connection(std::shared_ptr<NetContext> context, std::shared_ptr<ConnectionOwner> owner,
                       std::shared_ptr<TlsStream> stream, PeerIdentity peer, bool dialled_here)
    : context_(std::move(context)),
      owner_(std::move(owner)),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      dialled_here_(dialled_here),
      wake_(context_->io, asio::steady_timer::time_point::max()) {}

void Connection::start() {
  coroutines_ = 2;
  spawn(context_->io, shared_from_this(), read_loop());
  spawn(context_->io, shared_from_this(), write_loop());
}

void Connection::wake() {
  if (waiting_) wake_.cancel();
}

void Connection::drain() {
  if (draining_) return;
  draining_ = true;
  stream_->close_after(context_->options.drain_timeout,
                       {ErrorCode::timed_out, peer_address() + " did not finish an orderly close"});
  wake();
}

asio::awaitable<void> Connection::read_loop() {
  Bytes& scratch = context_->read_buffer;
  for (;;) {
    Result<std::size_t> got = co_await stream_->read(scratch);
    if (!got) co_return leave(&got.error());
    if (*got == 0) break;
    Status taken = take(BytesView(scratch).first(*got));
    if (!taken) co_return leave(&taken.error());
    // A flood from one peer must not starve the others.
    if (*got == scratch.size()) co_await asio::post(context_->io, kNoThrow);
  }
  if (parser_.mid_frame()) {
    Error cut{ErrorCode::corrupt, peer_address() + " closed in the middle of a frame"};
    co_return leave(&cut);
  }
  owner_->draining(*this);
  drain();
  leave(nullptr);
}

Status Connection::take(BytesView bytes) {
  heard_ = true;
  last_used_ = Clock::now();
  std::vector<Bytes> frames;
  Status parsed = parser_.feed(bytes, frames);
  TransportStats& stats = context_->stats;
  stats.bytes_in += bytes.size();
  stats.frames_in += frames.size();
  ++stats.reads;
  if (!frames.empty()) owner_->received(*this, std::move(frames));
  if (!parsed) {
    return fail(parsed.error().in(
        fmt::format("closed the connection of node {} at {}", peer_.node.short_string(), peer_address())));
  }
  return {};
}

asio::awaitable<void> Connection::wait_for_work() {
  if (batch_.capacity() > kKeepBatchBytes) batch_ = {};
  waiting_ = true;
  co_await wake_.async_wait(kNoThrow);
  waiting_ = false;
}

asio::awaitable<Status> Connection::write_batch() {
  last_used_ = Clock::now();
  Status written = co_await stream_->write(batch_);
  ++context_->stats.writes;
  context_->stats.bytes_out += batch_.size();
  co_return written;
}

asio::awaitable<void> Connection::write_loop() {
  while (stream_->open()) {
    batch_.clear();
    if (!draining_) owner_->fill(*this, batch_);
    if (batch_.empty() && draining_) break;
    if (batch_.empty()) {
      co_await wait_for_work();
      continue;
    }
    Status written = co_await write_batch();
    if (!written) co_return leave(&written.error());
  }
  Status finished = co_await stream_->finish_writing();
  leave(finished ? nullptr : &finished.error());
}

/// The end of one coroutine. The first error ends the other one too; the last to leave tells the owner.
void Connection::leave(Error* error) {
  if (error != nullptr && !error_) error_ = *error;
  if (error_) {
    stream_->close(*error_);
    draining_ = true;
    wake();
  }
  if (--coroutines_ > 0) return;
  stream_->close({ErrorCode::unavailable, "the connection with " + peer_address() + " ended"});
  owner_->ended(*this, error_ ? &*error_ : nullptr);
}

}  // namespace abacus
