// Splitting what is wanted over the lots of several sellers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/prng.h"
#include "core/buying/score.h"

namespace abacus {

/// One seller's usable answer.
struct Bid {
  std::size_t seller = 0;  ///< The caller's name for it.
  const Quote* quote = nullptr;
  Odds odds;
};

/// What to award to one seller. `lot` is the dearest taken: its price holds for all slots of the lease.
struct Pick {
  std::size_t seller = 0;
  std::uint32_t slots = 0;
  Lot lot;
  Money score;  ///< Of one task there.
};

/// Takes lots by their marginal score (a dearer lot makes the seller's earlier ones dearer too) until `wanted` slots
/// are taken or none are left; ties within 2 % are broken at random. At most one pick a seller, cheapest first.
std::vector<Pick> allocate(const std::vector<Bid>& bids, std::uint32_t wanted, const Terms& terms, Prng& prng);

}  // namespace abacus
