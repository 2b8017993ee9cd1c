// BLAKE2b digests and zstd frames; a frame's stated size is checked before anything is allocated.
#include "runtime/data/chunk.h"

#include <sodium.h>
#include <zstd.h>

#include "base/check.h"

namespace abacus {
namespace {

constexpr int kCompressionLevel = 3;

}  // namespace

Digest digest_of(BytesView content) {
  Digest digest;
  crypto_generichash(digest.bytes.data(), digest.bytes.size(), content.data(), content.size(), nullptr, 0);
  return digest;
}

Bytes compress(BytesView content) {
  Bytes frame(ZSTD_compressBound(content.size()));
  std::size_t size = ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), kCompressionLevel);
  CHECK_MSG(!ZSTD_isError(size), ZSTD_getErrorName(size));
  frame.resize(size);
  frame.shrink_to_fit();
  return frame;
}

Result<Bytes> decompress(BytesView frame, std::size_t content_bytes_max) {
  unsigned long long stated = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (stated == ZSTD_CONTENTSIZE_UNKNOWN || stated == ZSTD_CONTENTSIZE_ERROR) {
    return fail(ErrorCode::corrupt, "{} bytes that are no zstd frame with a stated size", frame.size());
  }
  if (stated > content_bytes_max) {
    return fail(ErrorCode::corrupt, "a zstd frame of {} bytes of content: the limit is {}", stated, content_bytes_max);
  }
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return fail(ErrorCode::corrupt, "{} bytes that are not exactly one zstd frame", frame.size());
  }
  Bytes content(static_cast<std::size_t>(stated));
  std::size_t size = ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(size)) return fail(ErrorCode::corrupt, "zstd: {}", ZSTD_getErrorName(size));
  if (size != content.size()) return fail(ErrorCode::corrupt, "zstd: {} bytes where {} were stated", size, stated);
  return content;
}

Result<Bytes> open_frame(const Digest& digest, BytesView frame) {
  auto content = decompress(frame, kContentBytesMax);
  if (!content) return fail(content.error().in("content " + digest.short_string()));
  Digest actual = digest_of(*content);
  if (actual != digest) {
    return fail(ErrorCode::corrupt, "content {} has the digest {}", digest.to_string(), actual.to_string());
  }
  return content;
}

}  // namespace abacus
