// Watching leases: beats, doubts, renewals, sellers out of touch, leases that are gone. DESIGN section 5, point 8.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// Sets the lease's timer for the next thing to do about it.
void arm(Turn& t, const Job& job, Lease& lease);
void on_lease_due(Turn& t, Lease& lease);

/// An awarded lease is accepted, or taken for accepted: it begins to be watched.
void go_live(Turn& t, Job& job, Lease& lease);

/// Starts went out: their answer is looked for after a while.
void watch_starts(Turn& t, Lease& lease);

/// The seller spoke about this lease.
void touched(Turn& t, Job& job, Lease& lease);

/// Sends what this side believes of the lease, and repeats what the seller was asked to stop.
void beat(Turn& t, Job& job, Lease& lease);

/// The seller no longer has the lease, or has surely stopped it: attempts without an end are lost.
void lose_lease(Turn& t, Job& job, Lease& lease, const std::string& why);

void on_lease_report(Turn& t, const Contact& from, const LeaseReport& report);

/// The failure detector began or ceased to suspect a peer.
void on_suspicion(Turn& t, const NodeId& peer, bool suspect);

}  // namespace abacus
