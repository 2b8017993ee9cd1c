// The buyer's side of ended attempts: outputs fetched, put where the user wants them, and logs kept to be read.
#pragma once

#include <filesystem>

#include "core/model/effects.h"
#include "protocol/bulk_messages.h"
#include "runtime/agent/ports.h"
#include "runtime/data/content_store.h"

namespace abacus {

/// Lays out DATA_DIR/jobs/JOB/INDEX/: the logs of an ended task, and its outputs where the job names no output
/// directory. Runs on the loop's thread; the store outlives it; the pool is joined before it is destroyed.
class Results {
 public:
  Results(AgentPorts ports, std::filesystem::path data_dir, ContentStore& store)
      : ports_(std::move(ports)), jobs_dir_(data_dir / "jobs"), store_(store) {}

  void act(const FetchOutputs& fetch);

  /// Where the folders of jobs lie.
  const std::filesystem::path& jobs_dir() const { return jobs_dir_; }

  /// The file with what an ended task printed; it may not exist, when nothing was printed.
  std::filesystem::path log_file(const TaskId& task, LogStream stream) const;

 private:
  boost::asio::awaitable<void> fetch(FetchOutputs fetch);
  /// Blocks.
  Status put_in_place(const FetchOutputs& fetch) const;
  std::filesystem::path task_dir(const TaskId& task) const;

  AgentPorts ports_;
  std::filesystem::path jobs_dir_;
  ContentStore& store_;
};

}  // namespace abacus
