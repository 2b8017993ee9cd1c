// From the journal back to a working custodian.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// Records in key order: jobs, then tasks, then leases. What names a job that is not there is left aside.
void restore_job(Desk& desk, const JobRecord& record);
void restore_task(Desk& desk, const TaskRecord& record);
void restore_lease(Desk& desk, const BoughtLeaseRecord& record);

/// After all records: leases are asked about, what waits is placed.
void resume(Turn& t);

}  // namespace abacus
