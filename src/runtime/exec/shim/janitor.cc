// The janitor's thread.
#include "runtime/exec/shim/janitor.h"

#include <signal.h>

#include <filesystem>

namespace abacus::shim {

Janitor::~Janitor() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Janitor::remove(std::string path) {
  {
    std::lock_guard lock(mutex_);
    paths_.push_back(std::move(path));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  wake_.notify_one();
}

bool Janitor::idle() const {
  std::lock_guard lock(mutex_);
  return paths_.empty();
}

void Janitor::work() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !paths_.empty(); });
    if (paths_.empty()) return;
    std::string path = paths_.front();
    lock.unlock();
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    lock.lock();
    paths_.pop_front();
  }
}

}  // namespace abacus::shim
