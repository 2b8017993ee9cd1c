// Greedy allocation by marginal score.
#include "core/buying/allocate.h"

#include <algorithm>
#include <optional>

#include "core/buying/amounts.h"

namespace abacus {
namespace {

/// How far one seller's supply curve has been taken.
struct Taken {
  std::size_t lots = 0;
  std::uint32_t slots = 0;
  Money score;  ///< Of a task at the price so far.
};

/// What each slot of the next lot costs, with what it adds to the slots taken before.
Money marginal(const Bid& bid, const Taken& taken, const Terms& terms) {
  const Lot& lot = bid.quote->lots[taken.lots];
  Money next = score(lot, terms, bid.odds);
  if (taken.slots == 0) return next;
  Money rise = times(difference(next, taken.score), taken.slots);
  return sum(next, Money{rise.micro / std::max<std::int64_t>(lot.count, 1)});
}

std::optional<std::size_t> cheapest(const std::vector<Bid>& bids, const std::vector<Taken>& taken, const Terms& terms,
                                    Prng& prng) {
  std::vector<std::pair<Money, std::size_t>> next;
  for (std::size_t i = 0; i < bids.size(); ++i) {
    if (taken[i].lots < bids[i].quote->lots.size()) next.emplace_back(marginal(bids[i], taken[i], terms), i);
  }
  if (next.empty()) return std::nullopt;
  Money best = std::min_element(next.begin(), next.end())->first;
  std::erase_if(next, [&](const auto& one) { return !ties_with(one.first, best); });
  return next[next.size() == 1 ? 0 : prng.below(next.size())].second;
}

}  // namespace

std::vector<Pick> allocate(const std::vector<Bid>& bids, std::uint32_t wanted, const Terms& terms, Prng& prng) {
  std::vector<Taken> taken(bids.size());
  while (wanted > 0) {
    std::optional<std::size_t> i = cheapest(bids, taken, terms, prng);
    if (!i) break;
    const Lot& lot = bids[*i].quote->lots[taken[*i].lots++];
    std::uint32_t slots = std::min(lot.count, wanted);
    taken[*i].slots += slots;
    taken[*i].score = score(lot, terms, bids[*i].odds);
    wanted -= slots;
  }
  std::vector<Pick> picks;
  for (std::size_t i = 0; i < bids.size(); ++i) {
    if (taken[i].slots == 0) continue;
    picks.push_back({bids[i].seller, taken[i].slots, bids[i].quote->lots[taken[i].lots - 1], taken[i].score});
  }
  std::stable_sort(picks.begin(), picks.end(), [](const Pick& a, const Pick& b) { return a.score < b.score; });
  return picks;
}

}  // namespace abacus
