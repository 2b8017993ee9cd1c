// Misfortunes as data: what strikes which nodes, when and for how long; and how often each kind really struck.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace abacus::sim {

using NodeIndex = std::uint32_t;

enum class FaultKind : std::uint8_t {
  crash,        ///< The agents stop between two instructions; processes live on. Started again when it is over.
  power_loss,   ///< The same, and the processes are gone.
  pause,        ///< The agents stand still, as by SIGSTOP: messages wait for them.
  slow,         ///< Whatever reaches the nodes is handled `by` later.
  cut,          ///< No message between `nodes` and `others` arrives, either way.
  cut_one_way,  ///< No message from `nodes` to `others` arrives; the other way is open.
  flap,         ///< As cut, by turns: cut for `by`, whole for `by`.
  clog,         ///< Messages between `nodes` and `others` arrive only when it is over.
  loss,         ///< Of messages between `nodes` and `others` so many permille are lost.
  clock_step,   ///< The wall clock jumps `by`, and back when it is over.
  disk_full,    ///< Commits fail.
  disk_slow,    ///< Commits take `by` longer.
};
BOOST_DESCRIBE_ENUM(FaultKind, crash, power_loss, pause, slow, cut, cut_one_way, flap, clog, loss, clock_step,
                    disk_full, disk_slow)

struct Fault {
  FaultKind kind = FaultKind::crash;
  Duration at;  ///< Since the start.
  Duration lasts;
  std::vector<NodeIndex> nodes;
  std::vector<NodeIndex> others;  ///< The far side, for faults of links; empty: everybody else.
  Duration by;
  std::uint32_t permille = 0;

  bool operator==(const Fault&) const = default;
};
BOOST_DESCRIBE_STRUCT(Fault, (), (kind, at, lasts, nodes, others, by, permille))

inline bool is_of_links(FaultKind kind) { return kind >= FaultKind::cut && kind <= FaultKind::loss; }

/// Rare ways of a machine, each at one named place of the simulated host. The node on it knows nothing of them.
enum class FaultPoint : std::uint8_t {
  commit_fails,       ///< A transaction is rolled back and reported as failed.
  commit_outlives,    ///< A crash during a transaction: it is durable, though nobody was told.
  launch_fails,       ///< A process cannot be started.
  process_hangs,      ///< It runs on until somebody ends it.
  process_is_deaf,    ///< It ignores SIGTERM and dies by SIGKILL after the grace.
  shim_dies,          ///< With everything that ran in its lease.
  staging_fails,      ///< Inputs cannot be had.
  fetching_fails,     ///< Outputs cannot be had.
  adoption_is_late,   ///< What runs is found only a while after the start.
  signature_is_late,  ///< The pool that signs and checks is busy.
};
BOOST_DESCRIBE_ENUM(FaultPoint, commit_fails, commit_outlives, launch_fails, process_hangs, process_is_deaf, shim_dies,
                    staging_fails, fetching_fails, adoption_is_late, signature_is_late)

struct FaultChance {
  FaultPoint point = FaultPoint::commit_fails;
  std::uint32_t permille = 0;  ///< Of the times that the place is passed.

  bool operator==(const FaultChance&) const = default;
};
BOOST_DESCRIBE_STRUCT(FaultChance, (), (point, permille))

}  // namespace abacus::sim
