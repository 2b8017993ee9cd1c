// The buyer's score.
#include "core/buying/score.h"

#include <algorithm>

#include "core/buying/amounts.h"

namespace abacus {

Odds odds_of(const SellerNotes& notes, Duration round_trip) {
  return {round_trip, notes.delivery.permille(), notes.acceptance.permille(), notes.awards_in_flight};
}

Money score(const Lot& lot, const Terms& terms, const Odds& odds) {
  Money running = most_cost(lot.price, 1, terms.run);
  Money failure = sum(running, most_cost(terms.urgency, 1, terms.run));
  Money refusal = most_cost(terms.urgency, 1, odds.round_trip * 2);
  Money total = sum(running, lot.fee);
  total = sum(total, most_cost(terms.urgency, 1, lot.start_delay + odds.round_trip));
  total = sum(total, permille(failure, 1000 - odds.delivery_permille));
  total = sum(total, permille(refusal, 1000 - odds.acceptance_permille));
  return sum(total, permille(running, 100 * std::int64_t{std::min(odds.awards_in_flight, 100u)}));
}

bool ties_with(Money candidate, Money best) {
  Money margin = permille(best, best < Money{} ? -20 : 20);
  return candidate <= sum(best, margin);
}

bool usable(const Quote& quote) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  auto sane = [](const Lot& lot) {
    return lot.count >= 1 && lot.count <= limits::kSlots && std::abs(lot.price.micro_per_s) <= kMost &&
           lot.fee.micro >= 0 && lot.fee.micro <= kMost && lot.start_delay >= Duration{} &&
           lot.start_delay <= hours(24 * 365);
  };
  return !quote.lots.empty() && quote.lots.size() <= limits::kLots && quote.valid_for >= Duration{} &&
         quote.lease_time_max >= Duration{} && std::all_of(quote.lots.begin(), quote.lots.end(), sane);
}

}  // namespace abacus
