// Retries with growing pauses what may pass; checks that an answer is of the kind asked for.
#include "runtime/data/bulk_client.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace abacus {
namespace {

namespace asio = boost::asio;

bool is_passing(ErrorCode code) { return code == ErrorCode::unavailable || code == ErrorCode::timed_out; }

asio::awaitable<Result<BulkResponse>> call_once(const BulkRequestFn& send, Bytes request) {
  Result<Bytes> bytes = co_await send(std::move(request));
  if (!bytes) co_return fail(bytes.error());
  auto response = decode_bulk_response(*bytes);
  if (!response) co_return fail(ErrorCode::corrupt, "the peer's response makes no sense: {}", response.error().message);
  if (const auto* error = std::get_if<BulkError>(&*response)) co_return fail(error->error());
  co_return response;
}

}  // namespace

asio::awaitable<Result<BulkResponse>> bulk_call(const BulkRequestFn& send, BulkRequest request, BulkRetry retry) {
  Bytes encoded = encode_bulk_request(request);
  asio::steady_timer timer(co_await asio::this_coro::executor);
  auto pause = retry.pause;
  for (int attempt = 1;; ++attempt) {
    auto response = co_await call_once(send, encoded);
    if (response || !is_passing(response.error().code)) co_return response;
    if (attempt >= retry.attempts) co_return fail(response.error().in(fmt::format("after {} attempts", attempt)));
    timer.expires_after(pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(pause * 2, retry.pause_max);
  }
}

asio::awaitable<Result<LogPart>> read_log(const BulkRequestFn& send, ReadLog request, BulkRetry retry) {
  BulkRequest any = request;
  auto response = co_await bulk_call(send, std::move(any), retry);
  if (!response) co_return fail(response.error());
  auto* part = std::get_if<LogPart>(&*response);
  if (!part || part->bytes.size() > request.bytes_max) {
    co_return fail(ErrorCode::corrupt, "the peer answered a request for a log by something else");
  }
  co_return std::move(*part);
}

}  // namespace abacus
