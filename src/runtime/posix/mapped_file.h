// A file's bytes as memory, read by the kernel where they are touched.
#pragma once

#include <filesystem>

#include "base/bytes.h"
#include "base/result.h"

namespace abacus {

/// A file as it was when it was opened; what is appended later is not seen. Whoever cuts the file short meanwhile ends
/// the program that reads there.
class MappedFile {
 public:
  /// Errors: as code_of_errno, naming the file; `invalid` for what is no regular file.
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  /// Valid as long as this lives.
  BytesView bytes() const { return bytes_; }

 private:
  explicit MappedFile(BytesView bytes) : bytes_(bytes) {}

  BytesView bytes_;
};

}  // namespace abacus
