// What a job's budget allows.
#include "core/buying/purse.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/buying/amounts.h"
#include "core/buying/custody.h"

namespace abacus {
namespace {

/// The longest time for which `slots` at `price` cost no more than `money`.
Duration time_for(Money money, Price price, std::uint32_t slots) {
  Int128 rate = static_cast<Int128>(price.micro_per_s) * slots;
  if (rate <= 0) return hours(24 * 365);
  Int128 ns = static_cast<Int128>(money.micro) * 1'000'000'000 / rate;
  return {static_cast<std::int64_t>(std::clamp<Int128>(ns, 0, hours(24 * 365).ns))};
}

Money least_cost(const Job& job, Price price, Money fee) { return sum(most_cost(price, 1, job.shortest_lease()), fee); }

}  // namespace

std::optional<Affordable> afford(const Job& job, Price price, Money fee, std::uint32_t slots, Duration lease_time) {
  std::optional<Money> left = job.left();
  if (!left) return Affordable{slots, lease_time};
  Money least = least_cost(job, price, fee);
  if (least > *left) return std::nullopt;
  if (least > Money{}) slots = static_cast<std::uint32_t>(std::min<std::int64_t>(slots, left->micro / least.micro));
  if (slots == 0) return std::nullopt;
  Duration time = time_for(difference(*left, times(fee, slots)), price, slots);
  return Affordable{slots, std::min(lease_time, std::max(time, job.shortest_lease()))};
}

std::optional<Price> price_limit(const Job& job) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  std::optional<Money> left = job.left();
  if (!left) return std::nullopt;
  Price limit = dearest(*left, job.shortest_lease());
  return Price{std::clamp<std::int64_t>(limit.micro_per_s, 0, kMost)};
}

bool can_pay_lowest(const Job& job) {
  std::optional<Money> left = job.left();
  const Verdict& verdict = job.verdict;
  return !left || !verdict.lowest_price || least_cost(job, *verdict.lowest_price, verdict.lowest_fee) <= *left;
}

bool give_up_if_poor(Turn& t, Job& job, bool asked_anybody) {
  job.verdict.too_poor = job.verdict.lowest_price.has_value() && !can_pay_lowest(job);
  if (!job.verdict.too_poor) {
    job.poor_episodes = 0;
    return false;
  }
  if (!asked_anybody) return false;
  if (++job.poor_episodes < t.desk.config.poor_episodes || !job.leases.empty()) return false;
  Money least = least_cost(job, *job.verdict.lowest_price, job.verdict.lowest_fee);
  std::string why = fmt::format(
      "the budget of {} ({} spent) does not buy one task: the lowest price heard is {}, which is {} for {}; "
      "raise the budget to {} at least",
      to_string(*job.spec().budget), to_string(job.record.spent), to_string(*job.verdict.lowest_price),
      to_string(least), to_string(job.shortest_lease()), to_string(sum(least, job.record.spent)));
  end_pending(t, job, EndKind::unplaceable, why);
  return true;
}

}  // namespace abacus
