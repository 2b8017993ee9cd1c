// Whom to ask: what is known of the market for one bundle, and a weighted random draw from it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "core/buying/score.h"
#include "core/buying/sellers.h"
#include "core/model/peers.h"

namespace abacus {

/// What is looked for.
struct Wanted {
  const Bundle& bundle;
  Shape shape = 0;
  const std::vector<std::string>& regions;  ///< Allowed; empty: all.
  Terms terms;
  std::string own_region;
  bool near_first = false;  ///< The work is short: the own region goes first.
  NodeId self;
};

struct Candidate {
  const Offer* offer = nullptr;        ///< Valid as long as Peers::offers().
  const SellerNotes* notes = nullptr;  ///< Null: no own experience.
  std::uint32_t slots = 0;             ///< That the whole node holds.
};

/// How far the node that comes nearest is from holding the bundle.
struct NearMiss {
  NodeId node;
  std::string region;
  std::vector<Shortfall> shortfalls;
};

/// Enough to tell a user which regions there are.
constexpr std::size_t kSeenRegions = 8;

/// The market as this node knows it, seen through one bundle.
struct Field {
  std::vector<Candidate> open;            ///< Could hold it, allowed, not cooling down.
  std::uint32_t nodes = 0;                ///< Looked at.
  std::uint32_t other_regions = 0;        ///< Of them forbidden by region.
  std::vector<std::string> seen_regions;  ///< Where those are, sorted; at most kSeenRegions.
  std::uint32_t feasible = 0;             ///< Of them allowed and large enough.
  std::optional<MonoTime> cool_until;     ///< When the first cool-down ends.
  std::optional<NearMiss> nearest;        ///< Only if nothing is feasible.
};

/// One pass over the offers heard. `without`: sellers not to be considered this time.
Field survey(const Peers& peers, const SellerBook& sellers, const Wanted& wanted, const std::vector<NodeId>& without,
             Now now);

/// Draws up to `count` of `field.open`: the own node if it is there, one never asked before if there is any, and the
/// rest at random, weighted by the expected score. Suspects are passed over.
std::vector<Candidate> draw(const Peers& peers, const Field& field, const Wanted& wanted, std::uint32_t count,
                            Prng& prng);

}  // namespace abacus
