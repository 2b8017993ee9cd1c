// When nothing known can hold a bundle: a bounded search, then an honest end.
#pragma once

#include "core/buying/desk.h"
#include "core/buying/shortlist.h"

namespace abacus {

/// A job's needs in the terms of the shortlist. Refers to the job.
Wanted wanted_of(const Turn& t, const Job& job);

/// Begins to search, or goes on, or, once the time is up, ends what waits with the nearest miss.
void search_on(Turn& t, Job& job, const Field& field);

/// "none of 12 nodes known can hold 64 CPU: nearest is ...".
std::string infeasible_sentence(const Field& field, const Bundle& bundle);

}  // namespace abacus
