// A recording's bytes as its entries.
#pragma once

#include "core/recording/entry.h"
#include "core/recording/frame.h"

namespace abacus {

/// An entry and where it stands.
struct PlacedEntry {
  std::uint64_t number = 0;  ///< Counts from 1 over the whole file.
  std::uint64_t offset = 0;
  Entry entry;
};

/// Front to back. The bytes outlive the reader.
class RecordingReader {
 public:
  /// Errors: those of EntryFrameReader::open.
  static Result<RecordingReader> open(BytesView file);

  /// Nothing at the end of the file, and at a torn tail. Errors: `corrupt` and others of decode_entry, with number and
  /// offset of the entry; nothing can be read after it.
  Result<std::optional<PlacedEntry>> next();

  const std::optional<TornTail>& torn() const { return frames_.torn(); }

 private:
  explicit RecordingReader(EntryFrameReader frames) : frames_(std::move(frames)) {}

  EntryFrameReader frames_;
};

}  // namespace abacus
