// The episodes of a job: ask, compare, award, ask once more, cool down, search. DESIGN section 5, points 1-6.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// Opens an episode if tasks wait that no slot at hand or under award covers, and the job is not in one.
void consider(Turn& t, Job& job);

/// The timer of the episode.
void on_episode_due(Turn& t, Job& job);

/// Answers of sellers. Whoever was not asked is not heard.
void on_quote(Turn& t, const Contact& from, const Quote& quote);
void on_decline(Turn& t, const Contact& from, const Decline& decline);
void on_call_back(Turn& t, const Contact& from, const Quote& quote);

/// An award came to something (`accepted`) or nothing. The lease is not open any more in the latter case.
void award_resolved(Turn& t, Job& job, const LeaseId& lease, bool accepted);

/// The seller refused, and perhaps quoted afresh: call before award_resolved.
void award_refused(Turn& t, Job& job, const NodeId& seller, const std::optional<Quote>& fresh);

/// Ends whatever episode there is, quietly.
void end_episode(Turn& t, Job& job);

/// Slots that tasks wait for beyond those leased or under award. Tasks shorter than `worth_a_slot` share slots.
std::uint32_t wanted_slots(const Turn& t, const Job& job);

/// How long slots are wanted: the run time of one slot's share of the tasks and a quarter, at least a minute.
Duration lease_time_for(const Turn& t, const Job& job, std::uint32_t slots);

}  // namespace abacus
