// Chunks: how content is cut, named and compressed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace abacus {

/// Files are cut every so many bytes; only a file's last chunk is shorter.
inline constexpr std::size_t kChunkBytes = 1 << 20;

/// The largest content the store keeps as one object: an encoded manifest may be larger than a chunk.
inline constexpr std::size_t kContentBytesMax = 16 << 20;

/// BLAKE2b-256 (RFC 7693) of the uncompressed bytes.
Digest digest_of(BytesView content);

/// One zstd frame (RFC 8878) that states its content size. The same bytes give the same frame with one version of
/// libzstd; nothing relies on more.
Bytes compress(BytesView content);

/// Inverse of compress, for bytes from anywhere; allocates no more than `content_bytes_max`. Errors: `corrupt` for
/// anything but exactly one whole frame with a stated size within the limit.
Result<Bytes> decompress(BytesView frame, std::size_t content_bytes_max);

/// decompress, then compares the digest. Errors: `corrupt`.
Result<Bytes> open_frame(const Digest& digest, BytesView frame);

}  // namespace abacus
