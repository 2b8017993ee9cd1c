// What a slot would really cost the buyer: the number by which quotes are compared. Lower is better.
#pragma once

#include "base/money.h"
#include "base/prng.h"
#include "core/buying/sellers.h"
#include "protocol/trade_messages.h"

namespace abacus {

/// What the job brings to the comparison.
struct Terms {
  Duration run;   ///< Expected, of one task; a minute where unknown.
  Price urgency;  ///< What a second's delay costs the user.
};

/// What the buyer knows of the seller.
struct Odds {
  Duration round_trip;
  std::int64_t delivery_permille = 900;    ///< That an attempt ends by itself.
  std::int64_t acceptance_permille = 900;  ///< That an award is accepted.
  std::uint32_t awards_in_flight = 0;      ///< Own ones there, not answered yet.
};
Odds odds_of(const SellerNotes& notes, Duration round_trip);

/// price x run + fee + urgency x delay + (1 - delivery) x (price x run + urgency x run)
///   + urgency x (1 - acceptance) x two round trips + a tenth of price x run for each own award in flight there.
/// DESIGN section 5, "Buyer's score". Saturates.
Money score(const Lot& lot, const Terms& terms, const Odds& odds);

/// True for scores within 2 % of the best, which are ties.
bool ties_with(Money candidate, Money best);

/// True if the numbers can be meant seriously: 1 to kLots lots of 1 to kSlots slots, amounts under 10^12 micro-credits
/// (a second, or as a fee), delays under a year. What a peer said passes here before anything is done with it.
bool usable(const Quote& quote);

}  // namespace abacus
