// Giving leases up, and what they came to.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// Gives the lease up: recorded, then told to the seller, until its receipt comes or cannot come any more.
void release(Turn& t, Job& job, Lease& lease, ReleaseReason reason);

/// Releases a live lease that holds nothing and is wanted for nothing more.
void release_if_idle(Turn& t, Job& job, Lease& lease);

/// Takes the lease and its record out, quietly. The reference is dead afterwards.
void drop_lease(Turn& t, Job& job, Lease& lease);

/// No receipt yet: the Release goes out again; after the lease's end and extension it is forgotten.
void on_receipt_missing(Turn& t, Job& job, Lease& lease);

void on_receipt(Turn& t, const Contact& from, const TraceContext& trace, const Receipt& receipt);

/// The seller gave the lease up: it runs nothing for it any more, but ends may still come.
void on_release(Turn& t, const Contact& from, const Release& message);

}  // namespace abacus
