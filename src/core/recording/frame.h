// The file around the entries of a recording: a header, then frames with checksums. docs/formats/recording.md says it
// for other readers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace abacus {

inline constexpr std::string_view kRecordingMagic = "abacusrc";
inline constexpr std::uint32_t kRecordingFormat = 1;
inline constexpr std::size_t kRecordingHeaderBytes = 48;
inline constexpr std::size_t kEntryFrameHeaderBytes = 12;

/// The header of a new file; of `version`, the program's, the first 32 bytes are kept.
Bytes recording_header(std::string_view version);

/// Appends one entry's frame. Requires less than 4 GiB of content.
void append_entry_frame(Bytes& out, BytesView content);

/// A file that stops in the middle of an entry, as one does whose writer was killed.
struct TornTail {
  std::uint64_t entry = 0;  ///< Counts from 1.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< From there to the end.
};

/// Takes the frames off a file's bytes, front to back. The bytes outlive the reader.
class EntryFrameReader {
 public:
  /// Errors: `invalid` (no recording), `corrupt` (a damaged header), `unsupported` (a format of a later version).
  static Result<EntryFrameReader> open(BytesView file);

  /// The next entry's content; nothing at the end of the file and at a torn tail. Errors: `corrupt`, with the entry's
  /// number and offset; nothing can be read after it, for where the next entry begins is not certain.
  Result<std::optional<BytesView>> next();

  /// Of the entry that `next` gave last.
  std::uint64_t entry() const { return entry_; }
  std::uint64_t offset() const { return offset_; }
  /// Where the next entry begins, or would.
  std::uint64_t position() const { return position_; }
  const std::optional<TornTail>& torn() const { return torn_; }
  /// The version of the program that began the file.
  const std::string& version() const { return version_; }

 private:
  explicit EntryFrameReader(BytesView file) : file_(file), position_(kRecordingHeaderBytes) {}
  std::optional<BytesView> tear();

  BytesView file_;
  std::string version_;
  std::uint64_t entry_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t position_;
  std::optional<TornTail> torn_;
};

}  // namespace abacus
