// Keeping a lease longer, at the price of the day, as far as the budget goes.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// Asks for more time if there is work left and money for it; otherwise the lease takes no more tasks.
void renew(Turn& t, Job& job, Lease& lease);

/// The seller's answer: until when, and for how much. Unasked, it counts for nothing.
void on_renewed(Turn& t, const Contact& from, const Renewed& renewed);

}  // namespace abacus
