// fetch_tree of runtime/data/bulk_client.h.
#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <map>
#include <set>

#include "runtime/data/bulk_client.h"
#include "runtime/data/chunk.h"
#include "runtime/data/manifest.h"
#include "runtime/data/run_on.h"
#include "runtime/data/unpack.h"

namespace abacus {
namespace {

namespace asio = boost::asio;

/// Uncompressed bytes asked for at once: what hardly compresses must fit one response too.
constexpr std::size_t kBatchBytes = limits::kBulkPayloadBytes - kChunkBytes;

/// One fetch. All members are used on the awaiting executor only, but for what run_on is given.
class TreeFetch {
 public:
  TreeFetch(ContentStore& store, std::string owner, Digest manifest, BulkRequestFn send, asio::any_io_executor workers,
            BulkRetry retry)
      : store_(store),
        owner_(std::move(owner)),
        manifest_(manifest),
        send_(std::move(send)),
        workers_(std::move(workers)),
        retry_(retry) {}

  asio::awaitable<Status> run() {
    ContentStore::Hold hold(store_);
    Status status = co_await ensure_manifest();
    if (!status) co_return status;
    status = co_await run_on(workers_, [this] { return plan(); });
    if (!status) co_return status;
    co_await fetch_all();
    if (!failure_) co_return failure_;
    co_return co_await run_on(workers_, [this] { return pin_all(); });
  }

 private:
  struct Wanted {
    Digest digest;
    std::uint32_t bytes = 0;
  };

  asio::awaitable<Status> ensure_manifest() {
    if (store_.has(manifest_)) co_return Status();
    Bytes bytes;
    for (;;) {
      BulkRequest request = GetManifest{manifest_, bytes.size()};
      auto response = co_await bulk_call(send_, std::move(request), retry_);
      if (!response) co_return fail(response.error());
      auto* part = std::get_if<ManifestPart>(&*response);
      if (!part) co_return fail(ErrorCode::corrupt, "the peer answered a request for a manifest by something else");
      bool fits = part->total_bytes <= kContentBytesMax && bytes.size() + part->bytes.size() <= part->total_bytes;
      if (!fits || (part->bytes.empty() && bytes.size() < part->total_bytes)) {
        co_return fail(ErrorCode::corrupt, "the peer sent {} bytes at {} of a manifest of {}", part->bytes.size(),
                       bytes.size(), part->total_bytes);
      }
      bytes.insert(bytes.end(), part->bytes.begin(), part->bytes.end());
      if (bytes.size() == part->total_bytes) break;
    }
    co_return co_await run_on(workers_, [this, &bytes] { return store_manifest(bytes); });
  }

  Status store_manifest(const Bytes& bytes) {
    if (digest_of(bytes) != manifest_) {
      return fail(ErrorCode::corrupt, "the peer sent a manifest with the digest {}", digest_of(bytes).to_string());
    }
    TRY_STATUS(decode_manifest(bytes));
    TRY_STATUS(store_.put(bytes));
    return {};
  }

  /// Pins first, so that what arrives is kept even if the fetch does not get to its end.
  Status plan() {
    TRY(Manifest tree, load_manifest(store_, manifest_));
    needed_ = {manifest_};
    for (const auto& [digest, bytes] : tree.chunk_sizes()) {
      needed_.push_back(digest);
      if (!store_.has(digest)) wanted_.push_back({digest, bytes});
    }
    return pin_all();
  }

  /// Also makes the names of all that has arrived durable.
  Status pin_all() { return store_.pin(owner_, needed_); }

  asio::awaitable<void> fetch_all() {
    using namespace asio::experimental::awaitable_operators;
    static_assert(kFetchesInFlight == 4);
    if (!wanted_.empty()) co_await (fetch_some() && fetch_some() && fetch_some() && fetch_some());
  }

  /// Takes batch after batch until none is left or any of the loops has failed.
  asio::awaitable<void> fetch_some() {
    while (next_ < wanted_.size() && failure_) {
      std::map<Digest, std::uint32_t> batch = take_batch();
      while (!batch.empty() && failure_) {
        Status status = co_await fetch_batch(batch);
        if (!status && failure_) failure_ = status;
      }
    }
  }

  std::map<Digest, std::uint32_t> take_batch() {
    std::map<Digest, std::uint32_t> batch;
    std::size_t sum = 0;
    while (next_ < wanted_.size() && batch.size() < limits::kBulkChunks) {
      const Wanted& one = wanted_[next_];
      if (!batch.empty() && sum + one.bytes > kBatchBytes) break;
      sum += one.bytes;
      batch.emplace(one.digest, one.bytes);
      ++next_;
    }
    return batch;
  }

  /// One request; takes what came out of `batch`.
  asio::awaitable<Status> fetch_batch(std::map<Digest, std::uint32_t>& batch) {
    GetChunks wanted{manifest_, {}};
    for (const auto& [digest, bytes] : batch) wanted.chunks.push_back(digest);
    BulkRequest request = std::move(wanted);
    auto response = co_await bulk_call(send_, std::move(request), retry_);
    if (!response) co_return fail(response.error());
    auto* part = std::get_if<ChunksPart>(&*response);
    if (!part || (part->chunks.empty() && part->missing.empty())) {
      co_return fail(ErrorCode::corrupt, "the peer answered a request for chunks without any");
    }
    if (!part->missing.empty()) {
      co_return fail(ErrorCode::not_found, "the peer has no chunk {} of the tree {}", part->missing.front().to_string(),
                     manifest_.to_string());
    }
    co_return co_await run_on(workers_, [this, part, &batch] { return keep(*part, batch); });
  }

  Status keep(const ChunksPart& part, std::map<Digest, std::uint32_t>& batch) {
    for (const StoredChunk& chunk : part.chunks) {
      if (!batch.contains(chunk.digest)) {
        return fail(ErrorCode::corrupt, "the peer sent a chunk {} that nobody asked for", chunk.digest.to_string());
      }
      TRY_STATUS(store_.put_frame(chunk.digest, chunk.frame));
      batch.erase(chunk.digest);
    }
    return {};
  }

  ContentStore& store_;
  const std::string owner_;
  const Digest manifest_;
  const BulkRequestFn send_;
  const asio::any_io_executor workers_;
  const BulkRetry retry_;
  std::vector<Digest> needed_;
  std::vector<Wanted> wanted_;
  std::size_t next_ = 0;
  Status failure_;
};

}  // namespace

asio::awaitable<Status> fetch_tree(ContentStore& store, std::string owner, Digest manifest, BulkRequestFn send,
                                   asio::any_io_executor workers, BulkRetry retry) {
  TreeFetch fetch(store, std::move(owner), manifest, std::move(send), std::move(workers), retry);
  Status status = co_await fetch.run();
  if (!status) co_return fail(status.error().in("fetching the tree " + manifest.short_string()));
  co_return status;
}

}  // namespace abacus
