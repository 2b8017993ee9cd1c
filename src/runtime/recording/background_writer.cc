// Wakes at the first byte, waits a little for more, writes all there is.
#include "runtime/recording/background_writer.h"

#include <utility>

#include "base/size.h"

namespace abacus {
namespace {

constexpr std::size_t kBatchBytes = 1 << 20;  // So much does not wait for more.

}  // namespace

BackgroundWriter::BackgroundWriter(Fd file, BackgroundWriterOptions options)
    : file_(std::move(file)), options_(std::move(options)), thread_([this] { run(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    std::lock_guard guard(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
}

void BackgroundWriter::append(BytesView piece) {
  if (stopped_) return;
  if (piece.size() > options_.bytes_max || options_.size > options_.bytes_max - piece.size()) {
    stopped_ = true;
    options_.log->warn("the recording {} ends here: with {} it has reached its limit (--record-max {})", options_.name,
                       size_text(options_.size), size_text(options_.bytes_max));
    return;
  }
  bool wake = false;
  {
    std::lock_guard guard(mutex_);
    stopped_ = failed_ || pending_.size() + piece.size() > kPendingMax;
    if (!stopped_) {
      wake = pending_.empty() || (pending_.size() < kBatchBytes && pending_.size() + piece.size() >= kBatchBytes);
      pending_.insert(pending_.end(), piece.begin(), piece.end());
    } else if (!failed_) {
      options_.log->error("the recording {} ends here: the disk is {} behind", options_.name, size_text(kPendingMax));
    }
  }
  options_.size += piece.size();
  if (wake) wake_.notify_one();
}

void BackgroundWriter::run() {
  while (true) {
    Bytes batch = next_batch();
    if (batch.empty()) return;
    Status written = write_all(file_.get(), batch, options_.name);
    if (written) continue;
    options_.log->error("the recording ends here: {}", written.error().message);
    std::lock_guard guard(mutex_);
    failed_ = true;
    pending_.clear();
    return;
  }
}

Bytes BackgroundWriter::next_batch() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return ending_ || !pending_.empty(); });
  wake_.wait_for(lock, kDelay, [this] { return ending_ || pending_.size() >= kBatchBytes; });
  return std::exchange(pending_, {});
}

}  // namespace abacus
