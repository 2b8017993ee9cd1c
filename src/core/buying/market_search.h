// When nothing known can hold a bundle: a bounded search, then an honest end.
#pragma once

#include "core/buying/desk.h"
#include "core/buying/shortlist.h"

namespace abacus {

/// A job's needs in the terms of the shortlist. Refers to the job.
Wanted wanted_of(const Turn& t, const Job& job);

/// Begins to search, or goes on, or, once the time is up, ends what waits with the nearest miss.
void search_on(Turn& t, Job& job, const Field& field);

/// "64 CPU in north or south".
std::string needs_text(const JobSpec& spec);

/// "no node known can hold 64 CPU in north: looked at 12, 3 of them in other regions: south; the nearest miss is ...".
std::string infeasible_sentence(const Field& field, const JobSpec& spec);

}  // namespace abacus
