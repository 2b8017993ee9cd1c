// Many batches, one flush: commits journal changes on its own thread, everything that waits in one transaction.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/store/journal.h"

namespace abacus {

/// Batches are committed in the order of submit() and answered in that order, on the committer's thread; callers post
/// the answer to where they live. An answer of success means durable.
///
/// After a failed transaction later batches are refused with the same error until reload() has run: they
/// were made by somebody who believed in the failed ones, and must not become durable without them.
///
/// Threads: submit() and reload() from any thread, also from within an answer. Answers must not throw, and must not
/// destroy the committer.
class GroupCommitter {
 public:
  using Done = std::function<void(Status)>;
  using Loaded = std::function<void(Result<std::vector<Journal::Row>>)>;

  /// Waiting changes beyond this count are a failed transaction with `exhausted`: the disk does not keep up.
  static constexpr std::size_t kMaxWaitingChanges = 1 << 20;

  explicit GroupCommitter(Journal journal);

  /// Commits and answers what was submitted, then stops the thread.
  ~GroupCommitter();

  GroupCommitter(const GroupCommitter&) = delete;
  GroupCommitter& operator=(const GroupCommitter&) = delete;

  /// Queues a batch; `done` is called once, with Journal::commit's result for the transaction that held it.
  void submit(std::vector<Journal::Change> changes, Done done);

  /// Queues a reading of the whole journal behind all earlier batches, and ends the refusal that a failure began.
  void reload(Loaded loaded);

 private:
  /// A batch when `done` is set, a reload when `loaded` is.
  struct Entry {
    std::vector<Journal::Change> changes;
    Done done;
    Loaded loaded;
    bool rejected = false;  ///< Came while too much was waiting; its changes are dropped.
  };

  void enqueue(Entry entry);
  void run();
  void process(std::vector<Entry> entries);
  void commit_batches(std::vector<Entry>& batches);
  void answer_reload(const Loaded& loaded);

  Journal journal_;
  Status health_;  ///< The failure that refuses batches; of the committer's thread.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> queue_;         ///< Guarded by mutex_.
  std::size_t waiting_changes_ = 0;  ///< Guarded by mutex_; a batch without changes counts as one.
  bool stopping_ = false;            ///< Guarded by mutex_.
  std::jthread thread_;
};

}  // namespace abacus
