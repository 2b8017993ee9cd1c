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

/// What a process does other than its command says.
struct Mood {
  bool hangs = false;  ///< Does not end by itself.
  bool deaf = false;   ///< Does not end by SIGTERM.
};

struct SimProcess {
  Launch launch;
  MonoTime started_at;
  WallTime started_wall;
  MonoTime ends_at;
  EndKind ends_as = EndKind::exited;
  std::int32_t by_signal = 0;
  Mood mood;
  std::uint64_t agent_life = 0;  ///< Of the agent that started it, and is told of its end as a matter of course.
  std::optional<TaskEnd> end;
  std::uint64_t generation = 0;  ///< Of `ends_at`: tells a due end from one that was overtaken.
};

class Processes {
 public:
  void open(const LeaseId& lease) { leases_[lease]; }
  /// Ends and removes everything of a lease.
  void close(const LeaseId& lease) { leases_.erase(lease); }

  /// Starts it at `start`, unless the attempt is known (then null).
  const SimProcess* launch(const Launch& launch, Mood mood, std::uint64_t agent_life, Now start);
  /// SIGTERM, and SIGKILL after the grace: it has a new end. Null if it does not run, or ends sooner anyway.
  const SimProcess* interrupt(const LeaseId& lease, const AttemptId& attempt, Duration grace, MonoTime now);
  /// Its time has come; null if it has another end by now.
  const SimProcess* finish(const LeaseId& lease, const AttemptId& attempt, std::uint64_t generation, WallTime now);
  void forget(const LeaseId& lease, const AttemptId& attempt);

  /// The host lost power: processes are gone, the shims' exit records stay.
  void power_loss();
  /// One shim died, with the processes of its lease. The life of the agent that started the last of them, if any ran.
  std::optional<std::uint64_t> shim_died(const LeaseId& lease);

  RunsAdopted inventory() const;
  std::size_t running() const;

  using Lease = std::map<AttemptId, SimProcess>;
  const std::map<LeaseId, Lease>& leases() const { return leases_; }

 private:
  SimProcess* find(const LeaseId& lease, const AttemptId& attempt);

  std::map<LeaseId, Lease> leases_;
  std::uint64_t generation_ = 0;
};

}  // namespace abacus::sim
