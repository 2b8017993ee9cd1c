// Late binding: which attempt goes into which slot, and when. DESIGN section 5, point 7.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// True if further tasks may go to the lease: accepted, in touch, and with time for one task left.
bool takes_tasks(const Turn& t, const Job& job, const Lease& lease);

/// Recallable tasks to have ready beyond the one that runs in each slot: ceil(RTT / S) + 1 for short tasks, none where
/// the run time S is unknown or over 50 round trips.
std::uint32_t primed_per_slot(const Job& job, const Lease& lease);

/// Takes the next waiting task, gives it a new attempt number in this lease and records it. Requires a waiting task.
AttemptId begin_attempt(Turn& t, Job& job, Lease& lease);

/// Fills the free slots (and the priming) of a lease with waiting tasks.
void feed(Turn& t, Job& job, Lease& lease);

/// Stops the attempts that a lease with fewer slots than awarded has too many; they come back as interrupted.
void recall_surplus(Turn& t, Job& job, Lease& lease);

/// Sends a Start again for attempts that the seller does not know: the same numbers, started once.
void start_again(Turn& t, Job& job, Lease& lease, const std::vector<AttemptKey>& keys);

/// Asks the seller to stop these. Repeated with each beat until they have ended.
void interrupt(Turn& t, Job& job, Lease& lease, const std::vector<AttemptKey>& keys);

}  // namespace abacus
