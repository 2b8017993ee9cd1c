// Appends to a file on a thread of its own, so that who appends never waits for a disk.
#pragma once

#include <spdlog/logger.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "runtime/posix/fd.h"

namespace abacus {

struct BackgroundWriterOptions {
  std::string name;             ///< Of the file, for the log.
  std::uint64_t size = 0;       ///< That the file has already.
  std::uint64_t bytes_max = 0;  ///< That it may come to.
  std::shared_ptr<spdlog::logger> log;
};

/// What is appended reaches the kernel within kDelay, unsynced. At its limit, when the disk fails, and when it falls
/// kPendingMax behind, the writer stops for good, at the end of a piece where it can, and says so in the log.
/// append() and stopped() on one thread.
class BackgroundWriter {
 public:
  static constexpr auto kDelay = std::chrono::milliseconds(10);
  static constexpr std::size_t kPendingMax = 64 << 20;

  BackgroundWriter(Fd file, BackgroundWriterOptions options);
  /// Writes what is left.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// All of `piece`, or nothing once stopped.
  void append(BytesView piece);

  bool stopped() const { return stopped_; }

 private:
  void run();
  /// Empty once there will be nothing more.
  Bytes next_batch();

  Fd file_;
  BackgroundWriterOptions options_;
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  Bytes pending_;        ///< Guarded by mutex_.
  bool failed_ = false;  ///< Guarded by mutex_.
  bool ending_ = false;  ///< Guarded by mutex_.
  std::jthread thread_;
};

}  // namespace abacus
