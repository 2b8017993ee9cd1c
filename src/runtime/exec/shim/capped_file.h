// One output stream of a task: a pipe that is always drained, kept in a file up to a cap.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace abacus::shim {

/// The task writes into the pipe and never sees the cap: it neither blocks on a full file nor gets SIGPIPE. The file is
/// created with the first byte, so a silent task costs no file.
class CappedFile {
 public:
  CappedFile() = default;
  CappedFile(const CappedFile&) = delete;
  CappedFile& operator=(const CappedFile&) = delete;
  ~CappedFile() { close(); }

  /// Makes the pipe; the caller hands the returned end to the task and closes it. -1 with errno set on failure.
  int open(std::string path, std::uint64_t cap_bytes);

  /// Moves what is in the pipe now, a bounded amount. False once the pipe is at its end, and closed.
  bool drain(std::span<char> scratch);

  /// Moves what is left once every writer is dead, and closes.
  void finish(std::span<char> scratch);

  void close();

  int pipe_fd() const { return pipe_; }
  std::uint64_t produced_bytes() const { return produced_; }
  bool truncated() const { return truncated_; }

 private:
  void keep(const char* bytes, std::size_t count);

  std::string path_;
  int pipe_ = -1;
  int file_ = -1;
  std::uint64_t cap_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t produced_ = 0;
  bool truncated_ = false;
};

}  // namespace abacus::shim
