// Requests are written as they come; answers are matched to them by order.
#include "runtime/net/bulk_link.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace abacus {

namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

}  // namespace

BulkLink::BulkLink(std::shared_ptr<NetContext> context, NodeId peer, Endpoint at, std::function<void(BulkLink&)> on_end)
    : context_(std::move(context)),
      peer_(peer),
      at_(at),
      on_end_(std::move(on_end)),
      wake_(context_->io, Clock::time_point::max()) {}

void BulkLink::start() { spawn(context_->io, shared_from_this(), run()); }

asio::awaitable<Result<Bytes>> BulkLink::request(Bytes bytes, Duration timeout) {
  if (ended_) co_return fail(*ended_);
  if (waiting_.size() >= kMaxOutstanding) {
    co_return fail(ErrorCode::exhausted, "{} bulk requests to node {} are under way already", waiting_.size(),
                   peer_.short_string());
  }
  auto started = last_used_ = Clock::now();
  auto waiter = std::make_shared<Waiter>(Waiter{std::nullopt, asio::steady_timer(context_->io)});
  waiter->done.expires_after(std::chrono::nanoseconds(timeout.ns));
  waiting_.push_back(waiter);
  requests_.push_back(std::move(bytes));
  if (stream_) stream_->call_off_close();
  wake_.cancel();
  co_await waiter->done.async_wait(kNoThrow);
  if (waiter->answer) co_return std::move(*waiter->answer);
  // The answer may still come and is then passed over: the order must hold. A peer that said nothing at all is gone.
  Error late{ErrorCode::timed_out, fmt::format("node {} at {} did not answer a bulk request within {}",
                                               peer_.short_string(), at_.to_string(), to_string(timeout))};
  if (last_heard_ < started) close(late);
  co_return fail(std::move(late));
}

void BulkLink::close(Error reason) {
  if (ended_) return;
  ended_ = reason;
  if (stream_) stream_->close(reason);
  wake_.cancel();
  for (const auto& waiter : std::exchange(waiting_, {})) {
    waiter->answer = fail(reason);
    waiter->done.cancel();
  }
  on_end_(*this);
}

asio::awaitable<void> BulkLink::run() {
  Status outcome = co_await dial();
  if (outcome) {
    spawn(context_->io, shared_from_this(), read_loop());
    outcome = co_await write_requests();
  }
  if (!outcome) close(outcome.error());
}

asio::awaitable<Status> BulkLink::dial() {
  auto stream =
      co_await connect_tls(context_->io, context_->tls, at_, Protocol::bulk, context_->options.handshake_timeout);
  if (!stream) co_return fail(stream.error());
  stream_ = *stream;
  auto who = context_->tls->peer_identity(stream_->ssl());
  if (who && who->node != peer_) {
    who = fail(ErrorCode::not_found, "at {} answers node {}, not node {}", at_.to_string(), who->node.short_string(),
               peer_.short_string());
  }
  if (!who) co_return fail(who.error());
  ++context_->stats.handshakes;
  co_return Status{};
}

asio::awaitable<Status> BulkLink::write_requests() {
  while (!ended_) {
    if (requests_.empty()) {
      co_await wake_.async_wait(kNoThrow);
      continue;
    }
    Bytes batch;
    append_frame(batch, requests_.front());
    requests_.pop_front();
    Status written = co_await stream_->write(batch);
    if (!written) co_return written;
    context_->stats.bulk_bytes_out += batch.size();
  }
  co_return Status{};
}

asio::awaitable<void> BulkLink::read_loop() {
  Status outcome = co_await read_answers();
  close(outcome ? Error{ErrorCode::unavailable, fmt::format("node {} closed the bulk connection", peer_.short_string())}
                : outcome.error());
}

/// Until the peer closes in order.
asio::awaitable<Status> BulkLink::read_answers() {
  FrameParser parser(kMaxBulkFrameBytes);
  for (;;) {
    Result<std::size_t> got = co_await stream_->read(context_->read_buffer);
    if (!got) co_return fail(got.error());
    if (*got == 0) co_return Status{};
    last_heard_ = Clock::now();
    context_->stats.bulk_bytes_in += *got;
    std::vector<Bytes> answers;
    Status parsed = parser.feed(BytesView(context_->read_buffer).first(*got), answers);
    if (parsed) parsed = hand_out(std::move(answers));
    if (!parsed) co_return parsed;
  }
}

Status BulkLink::hand_out(std::vector<Bytes> answers) {
  for (Bytes& answer : answers) {
    if (waiting_.empty()) {
      return fail(ErrorCode::corrupt, "node {} answered a bulk request that was not made", peer_.short_string());
    }
    waiting_.front()->answer = std::move(answer);
    waiting_.front()->done.cancel();
    waiting_.pop_front();
  }
  last_used_ = last_heard_;
  if (waiting_.empty()) stream_->close_after(kBulkRest, {ErrorCode::unavailable, "at rest"});
  return {};
}

}  // namespace abacus
