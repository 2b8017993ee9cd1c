// A frame's head has a checksum of its own, so that a wrong length is not taken for a file that was cut short.
#include "core/recording/frame.h"

#include <algorithm>

#include "core/recording/crc32c.h"

namespace abacus {
namespace {

constexpr std::size_t kVersionBytes = 32;
constexpr std::size_t kFormatAt = 8;
constexpr std::size_t kVersionAt = 12;
constexpr std::size_t kHeaderChecksumAt = kVersionAt + kVersionBytes;

void append_u32(Bytes& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

std::uint32_t read_u32(BytesView bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{bytes[at + i]} << (8 * i);
  return value;
}

bool all_zero(BytesView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

Bytes recording_header(std::string_view version) {
  Bytes header(kRecordingMagic.begin(), kRecordingMagic.end());
  append_u32(header, kRecordingFormat);
  version = version.substr(0, kVersionBytes);
  header.insert(header.end(), version.begin(), version.end());
  header.resize(kHeaderChecksumAt);
  append_u32(header, crc32c(header));
  return header;
}

void append_entry_frame(Bytes& out, BytesView content) {
  std::size_t begin = out.size();
  append_u32(out, static_cast<std::uint32_t>(content.size()));
  append_u32(out, crc32c(content));
  append_u32(out, crc32c(BytesView(out).subspan(begin)));
  out.insert(out.end(), content.begin(), content.end());
}

Result<EntryFrameReader> EntryFrameReader::open(BytesView file) {
  if (file.size() < kVersionAt || as_text(file.first(kFormatAt)) != kRecordingMagic) {
    return fail(ErrorCode::invalid, "not a recording: want a file that `abacus agent --record FILE` wrote");
  }
  std::uint32_t format = read_u32(file, kFormatAt);
  if (format != kRecordingFormat) {
    return fail(ErrorCode::unsupported,
                "a recording of format {}, this version reads format {}: replay it with the "
                "version that wrote it",
                format, kRecordingFormat);
  }
  if (file.size() < kRecordingHeaderBytes ||
      crc32c(file.first(kHeaderChecksumAt)) != read_u32(file, kHeaderChecksumAt)) {
    return fail(ErrorCode::corrupt, "the recording's header, its first {} bytes, is damaged", kRecordingHeaderBytes);
  }
  EntryFrameReader reader(file);
  reader.version_ = as_text(file.subspan(kVersionAt, kVersionBytes));
  reader.version_.erase(std::min(reader.version_.find('\0'), reader.version_.size()));
  return reader;
}

Result<std::optional<BytesView>> EntryFrameReader::next() {
  BytesView rest = file_.subspan(position_);
  if (rest.empty() || torn_) return std::nullopt;
  if (rest.size() < kEntryFrameHeaderBytes) return tear();
  if (crc32c(rest.first(8)) != read_u32(rest, 8)) {
    // After a power cut a file may end in zeros: its new length was on the disk before its new content.
    if (all_zero(rest)) return tear();
    return fail(ErrorCode::corrupt,
                "entry {} at byte {}: the head of its frame is damaged; {} bytes from there on are "
                "not read",
                entry_ + 1, position_, rest.size());
  }
  std::size_t length = read_u32(rest, 0);
  if (rest.size() - kEntryFrameHeaderBytes < length) return tear();
  BytesView content = rest.subspan(kEntryFrameHeaderBytes, length);
  if (crc32c(content) != read_u32(rest, 4)) {
    if (all_zero(content) && all_zero(rest.subspan(kEntryFrameHeaderBytes))) return tear();
    return fail(ErrorCode::corrupt, "entry {} at byte {}: its checksum is wrong; {} bytes from there on are not read",
                entry_ + 1, position_, rest.size());
  }
  ++entry_;
  offset_ = position_;
  position_ += kEntryFrameHeaderBytes + length;
  return content;
}

std::optional<BytesView> EntryFrameReader::tear() {
  torn_ = TornTail{entry_ + 1, position_, file_.size() - position_};
  return std::nullopt;
}

}  // namespace abacus
