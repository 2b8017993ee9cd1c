// From what the executor measured to what the market is told.
#pragma once

#include "protocol/job.h"
#include "runtime/exec/exit_record.h"

namespace abacus {

/// How the attempt ended. An interruption that the task did not survive counts as `cancelled`: the seller's core knows
/// who asked for it and says `interrupted` where it was not the buyer.
TaskEnd to_task_end(const ExitRecord& record);

}  // namespace abacus
