// Bulk data between agents, on its own connection: chunks, manifests and logs, one request and one response at a time.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace abacus {

namespace limits {
inline constexpr std::size_t kBulkRequestBytes = 8 << 10;  ///< One encoded request.
inline constexpr std::size_t kBulkPayloadBytes = 4 << 20;  ///< Content of one response, all items together.
inline constexpr std::size_t kBulkResponseBytes = (4 << 20) + (16 << 10);  ///< One encoded response.
inline constexpr std::size_t kBulkChunks = 64;                             ///< Chunks asked for at once.
}  // namespace limits

/// Chunks of one tree. Access is decided by the manifest, and only chunks that it lists are given.
struct GetChunks {
  Digest manifest;
  std::vector<Digest> chunks;
};
BOOST_DESCRIBE_STRUCT(GetChunks, (), (manifest, chunks))

/// The encoded manifest from `offset` on, as much as fits one response.
struct GetManifest {
  Digest manifest;
  std::uint64_t offset = 0;
};
BOOST_DESCRIBE_STRUCT(GetManifest, (), (manifest, offset))

enum class LogStream : std::uint8_t { standard_output, standard_error };
BOOST_DESCRIBE_ENUM(LogStream, standard_output, standard_error)

/// A stretch of what an attempt wrote.
struct ReadLog {
  AttemptId attempt;
  LogStream stream = LogStream::standard_output;
  std::uint64_t offset = 0;
  std::uint32_t bytes_max = 0;
};
BOOST_DESCRIBE_STRUCT(ReadLog, (), (attempt, stream, offset, bytes_max))

/// The order is the format: append only.
using BulkRequest = std::variant<GetChunks, GetManifest, ReadLog>;

/// The request could not be served. `code` is an ErrorCode's number.
struct BulkError {
  std::uint8_t code = 0;
  std::string message;

  Error error() const { return {static_cast<ErrorCode>(code), message}; }
};
BOOST_DESCRIBE_STRUCT(BulkError, (), (code, message))

/// One chunk as stored: a zstd frame whose content has the digest.
struct StoredChunk {
  Digest digest;
  Bytes frame;
};
BOOST_DESCRIBE_STRUCT(StoredChunk, (), (digest, frame))

/// The first so many chunks of the request as fit, in its order; at least one, unless all asked for are missing.
struct ChunksPart {
  std::vector<StoredChunk> chunks;
  std::vector<Digest> missing;  ///< Asked for, belonging to the manifest, but not there.
};
BOOST_DESCRIBE_STRUCT(ChunksPart, (), (chunks, missing))

struct ManifestPart {
  std::uint64_t total_bytes = 0;  ///< Of the whole encoded manifest.
  Bytes bytes;
};
BOOST_DESCRIBE_STRUCT(ManifestPart, (), (total_bytes, bytes))

struct LogPart {
  Bytes bytes;
  std::uint64_t size = 0;  ///< Of the stream, as far as it is written now.
  bool end = false;        ///< `bytes` reaches the end, and nothing will follow.
};
BOOST_DESCRIBE_STRUCT(LogPart, (), (bytes, size, end))

/// The order is the format: append only.
using BulkResponse = std::variant<BulkError, ChunksPart, ManifestPart, LogPart>;

Status validate(const GetChunks& request);
Status validate(const BulkError& response);

Bytes encode_bulk_request(const BulkRequest& request);
Bytes encode_bulk_response(const BulkResponse& response);

/// For bytes from anywhere: pure, and bounded by the limits above. Errors as decode() in protocol/codec.h.
Result<BulkRequest> decode_bulk_request(BytesView bytes);
Result<BulkResponse> decode_bulk_response(BytesView bytes);

}  // namespace abacus
