// The simulated processes of a host: they run in virtual time and outlive the agent, as those under a real shim do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/model/effects.h"
#include "core/model/event.h"

namespace abacus::sim {

/// A simulated command is {"sim", RUN_NS, EXIT_CODE}; the wall time of its process and how it ends.
std::vector<std::string> sim_command(Duration run_time, int exit_code);

struct SimProcess {
  Launch launch;
  MonoTime ends_at;
  WallTime started_at;
  std::optional<TaskEnd> end;
  std::uint64_t generation = 0;  ///< Tells a process from a later one of the same name.
};

class Processes {
 public:
  void open(const LeaseId& lease) { leases_[lease]; }
  /// Ends and removes everything of a lease.
  void close(const LeaseId& lease) { leases_.erase(lease); }

  /// Starts it, unless the attempt is known (then null).
  const SimProcess* launch(const Launch& launch, Now now);
  /// Ends it now; null if it does not run.
  const SimProcess* interrupt(const LeaseId& lease, const AttemptId& attempt, WallTime now);
  /// Its time has come; null if it was ended otherwise.
  const SimProcess* finish(const LeaseId& lease, const AttemptId& attempt, std::uint64_t generation, WallTime now);
  void forget(const LeaseId& lease, const AttemptId& attempt);

  /// The host lost power: processes are gone, the shims' exit records stay.
  void power_loss();

  RunsAdopted inventory() const;

  using Lease = std::map<AttemptId, SimProcess>;
  const std::map<LeaseId, Lease>& leases() const { return leases_; }

 private:
  SimProcess* find(const LeaseId& lease, const AttemptId& attempt);

  std::map<LeaseId, Lease> leases_;
  std::uint64_t generation_ = 0;
};

}  // namespace abacus::sim
