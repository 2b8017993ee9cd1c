// What a job's budget allows. Committed plus spent never passes the budget.
#pragma once

#include <optional>

#include "core/buying/desk.h"

namespace abacus {

struct Affordable {
  std::uint32_t slots = 0;
  Duration lease_time;
};

/// As many of `slots` for as much of `lease_time` as can still be committed, a fee for each slot's first task included:
/// first the time shrinks, to no less than Job::shortest_lease, then the slots. None if that does not buy one.
std::optional<Affordable> afford(const Job& job, Price price, Money fee, std::uint32_t slots, Duration lease_time);

/// Above this a quote is of no use; none without a budget.
std::optional<Price> price_limit(const Job& job);

/// False if even the lowest price of the last verdict is beyond the budget.
bool can_pay_lowest(const Job& job);

/// Counts episodes in which somebody was asked and nothing could be paid. After enough of them, and with no lease open
/// that could give money back, ends what waits and says so: then true.
bool give_up_if_poor(Turn& t, Job& job, bool asked_anybody);

}  // namespace abacus
