// Frames on a byte stream: a 4-byte little-endian length, then that many bytes. Pure; knows nothing of sockets.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/bytes.h"
#include "protocol/limits.h"

namespace abacus {

constexpr std::size_t kFrameHeaderBytes = 4;
constexpr std::size_t kMaxControlFrameBytes = limits::kMessageBytes;  ///< A control frame's body, at most (1 MiB).
/// A bulk frame's body, at most: 4 MiB of content and room for what describes it.
constexpr std::size_t kMaxBulkFrameBytes = (4 << 20) + (64 << 10);

/// Appends the header of a frame of `size` bytes. Requires size < 2^32.
void append_frame_header(Bytes& out, std::size_t size);

/// Appends the header and the bytes of one frame to `out`. Requires frame.size() < 2^32.
void append_frame(Bytes& out, BytesView frame);

/// Cuts a byte stream, arriving in any pieces, into frames. Keeps at most one unfinished frame.
/// After an error every further call gives that error again: the stream has lost its framing.
class FrameParser {
 public:
  /// `max_bytes` bounds a frame's body. Empty frames are legal here.
  explicit FrameParser(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Appends the frames that `input` completes to `frames`; those before an error stay there.
  /// Errors: `corrupt` for a length above the bound.
  Status feed(BytesView input, std::vector<Bytes>& frames);

  /// True when the stream stops inside a frame.
  bool mid_frame() const { return header_have_ > 0; }

 private:
  bool take_header(BytesView& input);

  std::size_t max_bytes_;
  std::array<std::uint8_t, kFrameHeaderBytes> header_{};
  std::size_t header_have_ = 0;
  std::size_t body_want_ = 0;
  Bytes body_;
};

}  // namespace abacus
