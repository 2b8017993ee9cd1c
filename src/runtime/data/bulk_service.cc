// Serves a chunk only to peers that may read a manifest which lists it.
#include "runtime/data/bulk_service.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "runtime/data/unpack.h"
#include "runtime/posix/fd.h"

namespace abacus {
namespace {

/// Trees whose chunk lists are remembered, so that a fetch does not decode its manifest for every request.
constexpr std::size_t kRecentTrees = 16;

}  // namespace

Bytes BulkService::handle(const NodeId& peer, BytesView request) {
  auto response = answer(peer, request);
  if (!response) {
    return encode_bulk_response(BulkError{static_cast<std::uint8_t>(response.error().code), response.error().message});
  }
  return encode_bulk_response(*response);
}

Result<BulkResponse> BulkService::answer(const NodeId& peer, BytesView bytes) {
  TRY(BulkRequest request, decode_bulk_request(bytes));
  return std::visit([&](const auto& one) { return serve(peer, one); }, request);
}

Status BulkService::check_access(const NodeId& peer, const Digest& manifest) const {
  if (hooks_.may_read(peer, manifest)) return {};
  return fail(ErrorCode::denied, "node {} may not read the tree {}", peer.short_string(), manifest.to_string());
}

Result<BulkService::ChunkList> BulkService::chunks_of(const Digest& digest) {
  {
    std::lock_guard guard(mutex_);
    auto found = std::find_if(recent_.begin(), recent_.end(), [&](const auto& one) { return one.first == digest; });
    if (found != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, found);
      return found->second;
    }
  }
  TRY(Manifest manifest, load_manifest(store_, digest));
  auto chunks = std::make_shared<std::vector<Digest>>();
  for (const auto& [chunk, size] : manifest.chunk_sizes()) chunks->push_back(chunk);
  std::lock_guard guard(mutex_);
  recent_.emplace_front(digest, chunks);
  if (recent_.size() > kRecentTrees) recent_.pop_back();
  return ChunkList(chunks);
}

Result<BulkResponse> BulkService::serve(const NodeId& peer, const GetChunks& request) {
  TRY_STATUS(check_access(peer, request.manifest));
  TRY(ChunkList allowed, chunks_of(request.manifest));
  ChunksPart part;
  std::size_t payload = 0;
  for (const Digest& digest : request.chunks) {
    if (!std::binary_search(allowed->begin(), allowed->end(), digest)) {
      return fail(ErrorCode::denied, "chunk {} is not of the tree {}", digest.to_string(),
                  request.manifest.to_string());
    }
    auto frame = store_.get_frame(digest);
    if (!frame && frame.error().code == ErrorCode::not_found) {
      part.missing.push_back(digest);
      continue;
    }
    if (!frame) return fail(frame.error());
    if (payload + frame->size() > limits::kBulkPayloadBytes) break;
    payload += frame->size();
    part.chunks.push_back({digest, std::move(*frame)});
  }
  return BulkResponse(std::move(part));
}

Result<BulkResponse> BulkService::serve(const NodeId& peer, const GetManifest& request) {
  TRY_STATUS(check_access(peer, request.manifest));
  TRY(Bytes bytes, store_.get(request.manifest));
  if (request.offset > bytes.size()) {
    return fail(ErrorCode::invalid, "offset {} in a manifest of {} bytes", request.offset, bytes.size());
  }
  BytesView rest = BytesView(bytes).subspan(static_cast<std::size_t>(request.offset));
  rest = rest.first(std::min(rest.size(), limits::kBulkPayloadBytes));
  return BulkResponse(ManifestPart{bytes.size(), Bytes(rest.begin(), rest.end())});
}

Result<BulkResponse> BulkService::serve(const NodeId& peer, const ReadLog& request) {
  TRY(LogFile file, hooks_.find_log(peer, request.attempt, request.stream));
  TRY(Fd fd, open_at(AT_FDCWD, file.path.string(), O_RDONLY | O_NOFOLLOW));
  std::size_t wanted = std::min<std::size_t>(request.bytes_max, limits::kBulkPayloadBytes);
  std::uint64_t offset = std::min<std::uint64_t>(request.offset, INT64_MAX - limits::kBulkPayloadBytes);
  TRY(Bytes bytes, read_at(fd.get(), offset, wanted, "cannot read the log"));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail_errno("cannot read the log");
  auto size = static_cast<std::uint64_t>(info.st_size);
  bool end = file.complete && offset + bytes.size() >= size;
  return BulkResponse(LogPart{std::move(bytes), size, end});
}

}  // namespace abacus
