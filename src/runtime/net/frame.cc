// A parser that keeps only the frame it is in, and checks a length before it makes room.
#include "runtime/net/frame.h"

#include <algorithm>

#include "base/check.h"

namespace abacus {

void append_frame_header(Bytes& out, std::size_t size) {
  CHECK(size <= 0xffffffffu);
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) out.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
}

void append_frame(Bytes& out, BytesView frame) {
  append_frame_header(out, frame.size());
  out.insert(out.end(), frame.begin(), frame.end());
}

bool FrameParser::take_header(BytesView& input) {
  std::size_t taken = std::min(input.size(), kFrameHeaderBytes - header_have_);
  std::copy_n(input.begin(), taken, header_.begin() + static_cast<std::ptrdiff_t>(header_have_));
  header_have_ += taken;
  input = input.subspan(taken);
  if (header_have_ < kFrameHeaderBytes) return false;
  body_want_ = 0;
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) body_want_ |= static_cast<std::size_t>(header_[i]) << (8 * i);
  return true;
}

Status FrameParser::feed(BytesView input, std::vector<Bytes>& frames) {
  for (;;) {
    if (header_have_ < kFrameHeaderBytes && (input.empty() || !take_header(input))) return {};
    if (body_want_ > max_bytes_) {
      return fail(ErrorCode::corrupt, "a frame announces {} bytes, the limit here is {}", body_want_, max_bytes_);
    }
    if (body_.empty()) body_.reserve(body_want_);
    std::size_t taken = std::min(input.size(), body_want_ - body_.size());
    body_.insert(body_.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(taken));
    input = input.subspan(taken);
    if (body_.size() < body_want_) return {};
    frames.push_back(std::move(body_));
    body_ = {};
    header_have_ = 0;
  }
}

}  // namespace abacus
