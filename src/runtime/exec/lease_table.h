// What the process executor knows of its leases and their attempts, without any IO.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/exec/executor.h"
#include "runtime/exec/shim_link.h"

namespace abacus {

enum class LeaseState {
  live,     ///< Takes launches.
  closing,  ///< Told to end once all is forgotten.
  ending,   ///< Told to end now.
  lost,     ///< Its shim died; waits for end_lease.
};

enum class AttemptPhase { sent, running, ended };

struct AttemptEntry {
  LeaseId lease;
  AttemptPhase state = AttemptPhase::sent;
  std::string launch_frame;  ///< Kept until the shim has taken it, to be sent again over a fresh connection.
  std::optional<Duration> interrupt_grace;  ///< It was asked to stop; likewise.
};

struct LeaseEntry {
  LeaseState state = LeaseState::live;
  std::shared_ptr<ShimLink> link;
  std::uint32_t shim_pid = 0;
  std::optional<WallTime> extended_until;  ///< Told to the shim; again over a fresh connection.
  int reconnects = 0;                      ///< Since the last complete listing.
  bool clearing = false;                   ///< The shim is gone, its remains are being cleared away.
  bool adopting = false;                   ///< adopt() still collects: news goes there instead of to the sink.
  std::vector<CgroupBranch> branches;      ///< Where its cgroups are.
};

/// The base name of an attempt's files: "JOB.INDEX.NUMBER".
std::string attempt_folder(const AttemptId& attempt);

struct LeaseTable {
  std::map<LeaseId, LeaseEntry> leases;
  std::map<AttemptId, AttemptEntry> attempts;

  LeaseEntry* find(const LeaseId& lease);
  AttemptEntry* find(const AttemptId& attempt);

  /// Removes a lease and its attempts.
  void erase(const LeaseId& lease);
};

}  // namespace abacus
