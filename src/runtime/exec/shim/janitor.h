// Deletes files beside the loop: removing a folder waits for the file system's journal, and a large tree takes long.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace abacus::shim {

/// One thread, started with the first request. Thread-safe.
class Janitor {
 public:
  Janitor() = default;
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

  /// Finishes what was asked for.
  ~Janitor();

  /// Deletes the file or the tree at `path` some time soon; missing ones are fine. What cannot be deleted stays.
  void remove(std::string path);

  /// Nothing is left to delete.
  bool idle() const;

 private:
  void work();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> paths_;  ///< The first is being deleted. As many as there are unforgotten attempts at most.
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace abacus::shim
