// Draining a pipe into a file that stops growing.
#include "runtime/exec/shim/capped_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace abacus::shim {
namespace {

constexpr int kReadsPerTurn = 16;  ///< Times 64 KiB: what the largest pipe holds, yet no starving of other tasks.

}  // namespace

int CappedFile::open(std::string path, std::uint64_t cap_bytes) {
  path_ = std::move(path);
  cap_ = cap_bytes;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  pipe_ = ends[0];
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  return ends[1];
}

bool CappedFile::drain(std::span<char> scratch) {
  for (int turn = 0; pipe_ >= 0 && turn < kReadsPerTurn; ++turn) {
    ssize_t n = ::read(pipe_, scratch.data(), scratch.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) {
      close();
      return false;
    }
    produced_ += static_cast<std::uint64_t>(n);
    keep(scratch.data(), static_cast<std::size_t>(n));
  }
  return pipe_ >= 0;
}

void CappedFile::finish(std::span<char> scratch) {
  // One turn reads more than a pipe can hold, unless somebody outside the task still writes; that is not its output.
  drain(scratch);
  close();
}

void CappedFile::keep(const char* bytes, std::size_t count) {
  std::size_t room = static_cast<std::size_t>(std::min<std::uint64_t>(cap_ - kept_, count));
  if (room < count) truncated_ = true;
  if (room == 0) return;
  if (file_ < 0) file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  while (room > 0) {
    ssize_t n = file_ < 0 ? -1 : ::write(file_, bytes, room);
    if (n < 0 && file_ >= 0 && errno == EINTR) continue;
    if (n <= 0) {
      // A full disk or a vanished folder: what does not fit is lost, and said to be.
      truncated_ = true;
      cap_ = kept_;
      return;
    }
    bytes += n;
    room -= static_cast<std::size_t>(n);
    kept_ += static_cast<std::uint64_t>(n);
  }
}

void CappedFile::close() {
  if (pipe_ >= 0) ::close(pipe_);
  if (file_ >= 0) ::close(file_);
  pipe_ = file_ = -1;
}

}  // namespace abacus::shim
