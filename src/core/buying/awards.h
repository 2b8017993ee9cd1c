// From award to accept or refuse: leases come into being here.
#pragma once

#include "core/buying/desk.h"

namespace abacus {

/// What is awarded to one seller.
struct Deal {
  Contact seller;
  std::string region;
  std::uint32_t slots = 0;
  Price price;
  Money fee;
  Duration lease_time;
  NegotiationId negotiation = 0;
  std::uint64_t quote = 0;
  std::uint32_t round = 1;
  Duration round_trip;
};

/// Draws a lease, binds the first waiting tasks to it, records both and sends the Award (for at_most_once jobs only
/// once they are durable). Requires that tasks wait and that the job can pay.
LeaseId open_lease(Turn& t, Job& job, const Deal& deal);

void on_accept(Turn& t, const Contact& from, const TraceContext& trace, const Accept& accept);
void on_refuse(Turn& t, const Contact& from, const Refuse& refuse);

/// No answer in time: the award goes out again (the lease id makes that harmless), and after some tries the tasks are
/// placed elsewhere. Those of at_most_once jobs wait until the seller has surely stopped them.
void on_award_unanswered(Turn& t, Job& job, Lease& lease);

/// The seller's answer, of whatever kind, ends the flight of an award.
void award_landed(Turn& t, Job& job, const Lease& lease, bool accepted);

}  // namespace abacus
