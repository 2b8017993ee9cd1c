// Which jobs, tasks, leases and traces any described value speaks of.
#pragma once

#include <set>

#include "core/model/effects.h"
#include "core/model/event.h"

namespace abacus {

using TraceId = decltype(TraceContext::trace);

struct Mentions {
  std::set<JobId> jobs;  ///< Those of tasks included.
  std::set<TaskId> tasks;
  std::set<LeaseId> leases;
  std::set<TraceId> traces;
};

Mentions mentions_of(const Event& event);
Mentions mentions_of(const Effect& effect);
/// Of the record that is put, or of the key that is erased.
Mentions mentions_of(const JournalChange& change);

}  // namespace abacus
