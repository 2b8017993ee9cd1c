// The giving side of bulk data: answers requests for chunks, manifests and logs.
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "protocol/bulk_messages.h"
#include "runtime/data/content_store.h"

namespace abacus {

/// Where an attempt's output is, and whether it is all there.
struct LogFile {
  std::filesystem::path path;
  bool complete = false;  ///< Nothing will be appended any more.
};

/// Transport-independent: bytes in, bytes out. Threads: handle() from any thread, several at once; it blocks on the
/// disk and burns CPU, so it belongs on a pool. The hooks are called on that thread and must bear it.
class BulkService {
 public:
  struct Hooks {
    /// May this peer read this tree? Asked for every request, before anything else is looked at.
    std::function<bool(const NodeId& peer, const Digest& manifest)> may_read;

    /// The file for ReadLog. Errors go to the peer: `denied` for a stranger, `not_found` for an unknown attempt.
    std::function<Result<LogFile>(const NodeId& peer, const AttemptId& attempt, LogStream stream)> find_log;
  };

  /// The store must outlive the service.
  BulkService(ContentStore& store, Hooks hooks) : store_(store), hooks_(std::move(hooks)) {}

  /// Answers one encoded BulkRequest by one encoded BulkResponse, a BulkError for whatever goes wrong. `peer` is who
  /// the connection has proved to be.
  Bytes handle(const NodeId& peer, BytesView request);

 private:
  using ChunkList = std::shared_ptr<const std::vector<Digest>>;  ///< Sorted.

  Result<BulkResponse> answer(const NodeId& peer, BytesView request);
  Result<BulkResponse> serve(const NodeId& peer, const GetChunks& request);
  Result<BulkResponse> serve(const NodeId& peer, const GetManifest& request);
  Result<BulkResponse> serve(const NodeId& peer, const ReadLog& request);
  Status check_access(const NodeId& peer, const Digest& manifest) const;
  Result<ChunkList> chunks_of(const Digest& manifest);

  ContentStore& store_;
  Hooks hooks_;
  std::mutex mutex_;
  std::list<std::pair<Digest, ChunkList>> recent_;  ///< Latest first; guarded by mutex_.
};

}  // namespace abacus
