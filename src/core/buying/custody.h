// Custody of jobs: taking them on, ending their tasks once and for all, cancelling.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

void submit(Turn& t, const SubmitJob& command);
void cancel(Turn& t, const CancelJob& command);

/// Records the end of a task, tells whoever follows it once it is durable, and stops what else still runs for it.
/// Requires that it has not ended and does not wait.
void end_task(Turn& t, Job& job, std::uint32_t position, TaskEnd end);

/// Ends everything that waits, with one record for all tasks that were never placed.
void end_pending(Turn& t, Job& job, EndKind kind, const std::string& why);

/// A lost or interrupted attempt: the task waits again, or, if it was cancelled or its tries are used up, ends.
void retry_or_end(Turn& t, Job& job, std::uint32_t position, TaskEnd end);

/// Puts a task back among those that wait, recorded. Requires that it has not ended.
void place_again(Turn& t, Job& job, std::uint32_t position);

TaskEnd cancelled_end(const Turn& t);

/// After anything that may have ended the job's last task, or left tasks waiting: to be called once the handler is done
/// with the job's leases.
void after_change(Turn& t, Job& job);

/// The same, and releases or arms the lease. The lease may be gone afterwards.
void after_lease_change(Turn& t, Job& job, Lease& lease);

/// Drops ended jobs that are old or too many, some thousand records a call; sets its timer again if there is more.
void on_retention_due(Turn& t);

}  // namespace abacus
