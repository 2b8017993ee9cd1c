// A fresh directory that goes when its owner goes.
#pragma once

#include <filesystem>

namespace abacus {

/// Lies below the system's directory for temporary files, mode 0700. For tests and tools: a failure to make it is a
/// failed CHECK.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace abacus
