// The seller's side of attempts in the real world: inputs brought in, processes started and ended, outputs packed.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/model/effects.h"
#include "core/model/records.h"
#include "runtime/agent/ports.h"
#include "runtime/data/bulk_service.h"
#include "runtime/data/content_store.h"
#include "runtime/exec/executor.h"

namespace abacus {

/// Carries out the selling effects of core and posts what comes of them. Everything runs on the loop's thread, except
/// find_log. Store and executor outlive it; the pool is joined before it is destroyed.
class Runs {
 public:
  Runs(AgentPorts ports, std::string region, bool limits, ContentStore& store, Executor& executor)
      : ports_(std::move(ports)), region_(std::move(region)), limits_(limits), store_(store), executor_(executor) {}

  void act(const AdoptRuns&);
  void act(const OpenLease& open);
  void act(const ExtendLease& extend);
  void act(const CloseLease& close);
  void act(const StageInputs& stage);
  void act(const Launch& launch);
  void act(const InterruptProcess& interrupt);
  void act(const ForgetAttempt& forget);

  /// What the executor reports.
  void on(const ExecEvent& event);

  /// A lease that the journal knows, told before AdoptRuns: its attempts' outputs can be packed after a restart.
  void remember(const SoldLeaseRecord& record);

  /// An attempt that the journal knows: its outputs are wanted until its buyer has them.
  void remember(const RunRecord& record) { in_journal_.insert(record.attempt); }
  /// All that were remembered.
  const std::set<AttemptId>& in_journal() const { return in_journal_; }

  /// Where an attempt's output is. Only its buyer may look. Any thread.
  Result<LogFile> find_log(const NodeId& peer, const AttemptId& attempt, LogStream stream) const;

 private:
  struct LeaseInfo {
    NodeId buyer;
    std::vector<std::string> outputs;
  };
  struct Place {
    LeaseId lease;
    NodeId buyer;
    bool ended = false;
  };

  boost::asio::awaitable<void> stage(StageInputs stage);
  boost::asio::awaitable<void> end(AttemptEnded ended);
  boost::asio::awaitable<void> adopt(std::vector<FoundLease> found);
  boost::asio::awaitable<TaskEnd> close_books(LeaseId lease, AttemptId attempt, ExitRecord record);
  Status pack_into(TaskEnd& end, const AttemptPaths& paths, const std::vector<std::string>& outputs,
                   const std::string& owner);
  LaunchSpec spec_for(const Launch& launch) const;
  void note(const AttemptId& attempt, const LeaseId& lease, bool ended);
  void on_event(const AttemptStarted& started);
  void on_event(const AttemptEnded& ended);
  void on_event(const LeaseLost& lost);
  void on_event(const LeaseRemoved& closed);

  AgentPorts ports_;
  std::string region_;
  bool limits_;
  ContentStore& store_;
  Executor& executor_;
  std::map<LeaseId, LeaseInfo> leases_;
  std::set<AttemptId> in_journal_;  ///< At the last start.
  mutable std::mutex mutex_;
  std::map<AttemptId, Place> places_;  ///< Guarded by mutex_: find_log is called from the pool.
};

/// Where stdout and stderr stand in the tree of an attempt's outputs.
inline constexpr char kLogFolder[] = ".abacus";
std::string log_name(LogStream stream);

}  // namespace abacus
