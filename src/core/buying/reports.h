// What buying shows of itself.
#pragma once

#include "core/buying/job.h"
#include "core/buying/lease.h"
#include "core/model/views.h"

namespace abacus {

JobView view_of(const Job& job, Now now);
TaskView view_of(const Job& job, std::uint32_t position);
ExplainView explain(const Job& job, std::uint32_t position, Now now);
BoughtLeaseView view_of(const Lease& lease);

/// Why tasks of the job wait, in one sentence; empty if none do.
std::string waiting_sentence(const Job& job, Now now);

}  // namespace abacus
