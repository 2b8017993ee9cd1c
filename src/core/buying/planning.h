// `plan`: what the sellers would ask, without buying.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// Asks up to `ask_max` sellers, the own node included, and answers when all have, or after `plan_patience`.
void plan(Turn& t, const PlanJob& command);
void on_plan_due(Turn& t, NegotiationId negotiation);

/// True if the answer belongs to a plan.
bool plan_quoted(Turn& t, const Contact& from, const Quote& quote);
bool plan_declined(Turn& t, const Contact& from, const Decline& decline);

}  // namespace abacus
