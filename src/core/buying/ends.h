// How attempts report: Started, Done, and the outputs that follow. The first end of a task counts.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

void on_started(Turn& t, const Contact& from, const TraceContext& trace, const Started& started);

/// A Done is acknowledged once it cannot be needed again: its end is durable, or it is of no use.
void on_done(Turn& t, const Contact& from, const TraceContext& trace, const Done& done);

void on_outputs(Turn& t, const OutputsFetched& fetched);
void on_fetch_due(Turn& t, const TaskId& task);

/// Lets a Done be forgotten by the seller once everything recorded so far is durable.
void acknowledge(Turn& t, const Job& job, const LeaseId& lease, const Contact& seller, const AttemptId& attempt);

}  // namespace abacus
