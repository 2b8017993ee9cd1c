// Custody of one job: its tasks, what waits, what has ended, what it may still spend.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/buying/episode.h"
#include "core/buying/history.h"
#include "core/buying/lease.h"
#include "core/buying/pending_tasks.h"
#include "core/buying/sellers.h"
#include "core/model/records.h"
#include "core/model/views.h"
#include "protocol/message.h"

namespace abacus {

/// Where attempts run: shared by all tasks of a lease.
struct Place {
  NodeId seller;
  std::string region;
  std::uint32_t rounds = 0;
  Price price;
};

/// A task that was placed at least once, or was ended or cancelled on its own. Small: a job may have a million.
struct Task {
  std::uint32_t attempt = 0;  ///< The latest; 0: never placed.
  std::uint32_t place = 0;    ///< Of the latest, in Job::places.
  LeaseId lease;              ///< Of the latest while it is out; empty: waits or has ended.
  WallTime placed_at;
  WallTime started_at;      ///< Zero: not started.
  std::uint16_t tries = 0;  ///< Lost or interrupted attempts of this run of the agent.
  TaskPhase phase = TaskPhase::waiting;
  bool cancelled = false;
  bool restored = false;  ///< Its latest attempt is of an earlier run of the agent.
  std::unique_ptr<TaskEnd> end;

  bool ended() const { return end != nullptr; }
};

/// The end of an attempt whose outputs are being fetched.
struct Fetch {
  std::uint32_t attempt = 0;
  LeaseId lease;
  Contact seller;
  TaskEnd end;
  std::uint32_t tries = 1;
  bool under_way = true;  ///< False: waits for the next try.
};

struct Job {
  explicit Job(JobRecord job_record);

  JobRecord record;
  Shape shape = 0;
  TraceContext trace;
  bool restored = false;  ///< Taken over from an earlier run of the agent.

  // custody
  PendingTasks pending;
  std::vector<Task> tasks;  ///< By position, as far as any was touched.
  std::vector<Place> places;
  std::map<std::uint32_t, Fetch> fetches;
  std::multimap<std::uint32_t, LeaseId> strays;  ///< Leases that may hold earlier attempts of a task.
  std::uint32_t succeeded = 0;
  std::uint32_t failed = 0;

  // negotiation
  Episode episode;
  std::uint32_t cool_level = 0;
  std::uint32_t poor_episodes = 0;
  bool satisfied = false;  ///< Everything that waits is covered by slots at hand.
  Verdict verdict;
  History history;
  std::vector<NegotiationId> negotiations;  ///< The latest few: a call back may name them.

  // leases
  std::vector<Lease*> leases;  ///< All open ones, in order of award.
  Duration learned_run;        ///< Zero until an attempt has ended.

  const JobSpec& spec() const { return record.spec; }
  const JobId& id() const { return record.job; }
  bool at_most_once() const { return record.spec.repeat == Repeat::at_most_once; }

  std::uint32_t size() const { return record.spec.array.size(); }
  TaskId task_id(std::uint32_t position) const;
  /// The position of an array index, if the job has it.
  std::optional<std::uint32_t> position_of(std::uint32_t index) const;

  /// The task at a position; grows the table up to there. Requires position < size().
  Task& task(std::uint32_t position);
  /// Null if it was never touched.
  const Task* find(std::uint32_t position) const;
  bool has_ended(std::uint32_t position) const;
  TaskRecord record_of(std::uint32_t position) const;

  std::uint32_t ended() const { return succeeded + failed; }
  bool all_ended() const { return ended() == size(); }

  /// Of one task: learned from its own ends, or as the user says; zero: unknown.
  Duration run() const;
  /// The same for arithmetic that needs a number: a minute where unknown.
  Duration run_or_minute() const;

  /// Of the open leases, at most.
  Money committed() const;
  /// What may still be committed; none: no limit.
  std::optional<Money> left() const;
  /// The shortest lease worth buying: a task and a twentieth, or a minute where the run is unknown.
  Duration shortest_lease() const;

  void learn_run(Duration running);
};

}  // namespace abacus
