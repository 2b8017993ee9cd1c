// The asking side of bulk data: one request with retries, whole trees, stretches of logs.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "protocol/bulk_messages.h"
#include "runtime/data/content_store.h"

namespace abacus {

/// Carries one encoded request to the peer and brings back the encoded response. Several may be in flight at once.
using BulkRequestFn = std::function<boost::asio::awaitable<Result<Bytes>>(Bytes)>;

/// After `unavailable` or `timed_out`, from the transport or from the peer, a request is repeated: `attempts` times in
/// all, with a pause that doubles from `pause` up to `pause_max`. All requests are reads, so repeating one is harmless.
struct BulkRetry {
  int attempts = 6;
  std::chrono::milliseconds pause{100};
  std::chrono::milliseconds pause_max{5000};
};

/// Sends one request; a BulkError in the response becomes the error. Errors: the transport's and the peer's, and
/// `corrupt` for a response that does not decode.
boost::asio::awaitable<Result<BulkResponse>> bulk_call(const BulkRequestFn& send, BulkRequest request,
                                                       BulkRetry retry = {});

/// A stretch of an attempt's output. Errors: as bulk_call; `corrupt` for a response of another kind or longer than
/// asked for.
boost::asio::awaitable<Result<LogPart>> read_log(const BulkRequestFn& send, ReadLog request, BulkRetry retry = {});

/// Brings the tree `manifest` with all its chunks into the store, pinned for `owner`. What the store has already is not
/// asked for, so a fetch that failed or was cancelled goes on where it stopped when it is called again; pins set
/// meanwhile stay until ContentStore::unpin(owner).
///
/// Runs on the executor that awaits it, which must run one handler at a time (a strand, or an io_context with one
/// thread); hashing, decompression and disk run on `workers`, up to kFetchesInFlight at once. Store and pool must
/// outlive the call, and the pool must be joined before the awaiting executor's context is destroyed.
///
/// Errors: as bulk_call and the store's; `not_found` if the peer lacks content, `corrupt` for content that does not
/// have its digest, or a peer that answers without answering; `invalid` for a manifest against the rules.
boost::asio::awaitable<Status> fetch_tree(ContentStore& store, std::string owner, Digest manifest, BulkRequestFn send,
                                          boost::asio::any_io_executor workers, BulkRetry retry = {});

inline constexpr int kFetchesInFlight = 4;

}  // namespace abacus
