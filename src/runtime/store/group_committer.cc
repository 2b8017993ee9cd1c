// Takes the whole queue at a time; after a failure nothing is committed until a reload.
#include "runtime/store/group_committer.h"

#include <algorithm>
#include <iterator>

namespace abacus {

GroupCommitter::GroupCommitter(Journal journal) : journal_(std::move(journal)), thread_([this] { run(); }) {}

GroupCommitter::~GroupCommitter() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void GroupCommitter::submit(std::vector<Journal::Change> changes, Done done) {
  enqueue({std::move(changes), std::move(done), nullptr});
}

void GroupCommitter::reload(Loaded loaded) { enqueue({{}, nullptr, std::move(loaded)}); }

void GroupCommitter::enqueue(Entry entry) {
  {
    std::lock_guard guard(mutex_);
    std::size_t cost = std::max<std::size_t>(entry.changes.size(), 1);
    if (entry.done && waiting_changes_ + cost > kMaxWaitingChanges) {
      entry.rejected = true;
      entry.changes.clear();
    } else {
      waiting_changes_ += cost;
    }
    queue_.push_back(std::move(entry));
  }
  wake_.notify_one();
}

void GroupCommitter::run() {
  for (;;) {
    std::vector<Entry> entries;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      entries.swap(queue_);
      waiting_changes_ = 0;
    }
    process(std::move(entries));
  }
}

void GroupCommitter::process(std::vector<Entry> entries) {
  std::vector<Entry> batches;
  for (auto& entry : entries) {
    if (entry.done && !entry.rejected) {
      batches.push_back(std::move(entry));
      continue;
    }
    commit_batches(batches);
    if (entry.loaded) {
      answer_reload(entry.loaded);
      continue;
    }
    if (health_) {
      health_ = fail(ErrorCode::exhausted, "more than {} journal changes wait for the disk: it does not keep up",
                     kMaxWaitingChanges);
    }
    entry.done(health_);
  }
  commit_batches(batches);
}

void GroupCommitter::commit_batches(std::vector<Entry>& batches) {
  if (batches.empty()) return;
  if (health_) {
    std::vector<Journal::Change> all;
    for (auto& batch : batches) std::move(batch.changes.begin(), batch.changes.end(), std::back_inserter(all));
    health_ = journal_.commit(all);
  }
  for (auto& batch : batches) batch.done(health_);
  batches.clear();
}

void GroupCommitter::answer_reload(const Loaded& loaded) {
  auto rows = journal_.load();
  health_ = {};
  if (!rows) health_ = fail(rows.error());
  loaded(std::move(rows));
}

}  // namespace abacus
