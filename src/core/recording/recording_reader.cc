// Frames decoded one by one.
#include "core/recording/recording_reader.h"

namespace abacus {

Result<RecordingReader> RecordingReader::open(BytesView file) {
  TRY(EntryFrameReader frames, EntryFrameReader::open(file));
  return RecordingReader(std::move(frames));
}

Result<std::optional<PlacedEntry>> RecordingReader::next() {
  TRY(std::optional<BytesView> content, frames_.next());
  if (!content) return std::nullopt;
  auto entry = decode_entry(*content);
  if (!entry) {
    return fail(entry.error().in(fmt::format("entry {} at byte {}", frames_.entry(), frames_.offset())));
  }
  return PlacedEntry{frames_.entry(), frames_.offset(), std::move(*entry)};
}

}  // namespace abacus
