// Runs attempts as plain processes of this machine, one shim a lease. See executor.h for the contract.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "runtime/exec/executor.h"

namespace abacus {

struct ProcessExecutorOptions {
  std::string root;          ///< Folder of the leases' folders, made when missing; absolute. One agent's alone.
  std::string shim_program;  ///< Path of abacus-shim; see default_shim_program.
  Duration orphan_limit = minutes(10);  ///< How long past its deadline a lease waits for its agent.
  Duration answer_limit = seconds(10);  ///< For a shim to tell its state or to end; then it is ended by force.
  IsolationReport isolation;            ///< From probe_isolation(); empty branches: no cgroups at all.
};

/// "abacus-shim" beside the running program.
std::string default_shim_program();

/// An agent without its shim would win work and fail all of it. Errors: `not_found`, saying what to install where.
Status check_shim_program(const std::string& path);

/// Destroying it is like the agent's death: leases and their tasks go on, and the next executor adopts them.
class ProcessExecutor final : public Executor {
 public:
  /// `executor` must run its handlers one at a time, and `sink` is called on it. Errors of `root` show at open_lease.
  ProcessExecutor(boost::asio::any_io_executor executor, ProcessExecutorOptions options, ExecSink sink);
  ~ProcessExecutor() override;

  Status open_lease(const LeaseSpec& spec) override;
  Status launch(const LaunchSpec& spec) override;
  Status interrupt(const AttemptId& attempt, Duration grace) override;
  Status forget(const AttemptId& attempt) override;
  Status close_lease(const LeaseId& lease) override;
  Status extend_lease(const LeaseId& lease, WallTime deadline) override;
  Status end_lease(const LeaseId& lease) override;
  void adopt(std::function<void(std::vector<FoundLease>)> done) override;
  AttemptPaths paths(const LeaseId& lease, const AttemptId& attempt) const override;
  const IsolationReport& isolation() const override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace abacus
