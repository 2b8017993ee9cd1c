// The simulated processes of a host: they run in virtual time and outlive the agent, as those under a real shim do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/model/effects.h"
#include "core/model/event.h"

namespace abacus::sim {

/// A simulated command is {"sim", RUN_NS, EXIT_CODE}: the wall time of its process and how it ends; below zero
/// EXIT_CODE is the signal that ends it. A fourth word, "deaf", means that SIGTERM does not. No other command can be
/// started.
std::vector<std::string> sim_command(Duration run_time, int exit_code, bool deaf = false);

/// What a process does other than its command says.
struct Mood {
  bool fails = false;  ///< Cannot be started.
  bool hangs = false;  ///< Does not end by itself.
  bool deaf = false;   ///< Does not end by SIGTERM.
};

struct SimProcess {
  Launch launch;
  MonoTime started_at;
  WallTime started_wall;
  MonoTime done_at;                        ///< It ends by itself.
  MonoTime limit_at;                       ///< SIGTERM, by its time limit.
  std::optional<MonoTime> interrupted_at;  ///< SIGTERM, by somebody.
  MonoTime kill_at;                        ///< SIGKILL, after the grace of either.
  bool deaf = false;
  std::uint64_t agent_life = 0;  ///< Of the agent that started it, and is told of its end as a matter of course.
  std::optional<TaskEnd> end;
  std::uint64_t generation = 0;  ///< Of `ends_at`: tells a due end from one that was overtaken.

  /// By a signal of the shim, if not by itself before.
  MonoTime stopped_at() const;
  MonoTime ends_at() const { return std::max(std::min(done_at, stopped_at()), started_at); }
};

struct SimLease {
  std::uint32_t slots = 0;
  std::uint64_t agent_life = 0;  ///< Of the agent that opened it.
  bool broken = false;           ///< Its shim is dead: nothing can be started in it any more.
  std::map<AttemptId, SimProcess> attempts;
};

class Processes {
 public:
  void open(const OpenLease& open, std::uint64_t agent_life) {
    leases_.try_emplace(open.lease, SimLease{open.slots, agent_life, false, {}});
  }
  /// Ends and removes everything of a lease.
  void close(const LeaseId& lease) { leases_.erase(lease); }

  /// The process of the attempt, which starts at `start` unless it is known; if it cannot, it has ended already. Null:
  /// the lease is not open, or broken.
  const SimProcess* launch(const Launch& launch, Mood mood, std::uint64_t agent_life, Now start);
  /// SIGTERM, and SIGKILL after the grace: it may have a new end. Null if it does not run.
  const SimProcess* interrupt(const LeaseId& lease, const AttemptId& attempt, Duration grace, MonoTime now);
  /// Its time has come; null if it has another end by now.
  const SimProcess* finish(const LeaseId& lease, const AttemptId& attempt, std::uint64_t generation, WallTime now);
  /// Nothing happens while it runs.
  void forget(const LeaseId& lease, const AttemptId& attempt);

  /// The host lost power: processes and shims are gone, the shims' exit records stay.
  void power_loss();
  /// One shim died, with the processes of its lease. False: there is none.
  bool shim_died(const LeaseId& lease);

  RunsAdopted inventory() const;
  std::size_t running() const;

  const std::map<LeaseId, SimLease>& leases() const { return leases_; }

 private:
  SimProcess* find(const LeaseId& lease, const AttemptId& attempt);
  static void break_down(SimLease& lease);

  std::map<LeaseId, SimLease> leases_;
  std::uint64_t generation_ = 0;
};

}  // namespace abacus::sim
