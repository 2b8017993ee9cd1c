// The door of the offer cache: which offers that others sent are news worth a signature check.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "core/overlay/offer_cache.h"
#include "core/overlay/overlay_config.h"
#include "protocol/offer.h"

namespace abacus {

/// Bounds what strangers can make this node do: at most `checks_max` checks in `check_timeout`, `checks_per_peer` of
/// them for one peer, and no offer twice in that time.
class OfferIntake {
 public:
  OfferIntake(const IntakeConfig& config, const NodeId& self) : config_(config), self_(self) {}

  /// Those of `offers` that are news: alive, not dated too far ahead, of a higher sequence than the cache holds, and
  /// not being checked already. An offer in this node's own name is news only above `own_sequence`.
  std::vector<OfferRef> news(const NodeId& source, const std::vector<OfferRef>& offers, const OfferCache& cache,
                             std::uint64_t own_sequence, Now now);

  /// Until when an offer is to be kept; none if it has expired, is dated too far ahead, or its node has left since.
  std::optional<WallTime> live_until(const Offer& offer, WallTime now) const;

  /// `node` said goodbye: what it offered up to `sequence` is void.
  void departed(const NodeId& node, std::uint64_t sequence);

 private:
  /// Enough of the signature to tell a forgery from the offer whose place it takes.
  using Key = std::tuple<NodeId, std::uint64_t, std::uint64_t>;
  struct Check {
    MonoTime since;
    Key key;
    NodeId source;
  };
  static Key key_of(const SignedOffer& offer);
  void forget_old(MonoTime now);
  bool admit(const NodeId& source, const SignedOffer& offer, MonoTime now);

  IntakeConfig config_;
  NodeId self_;
  std::deque<Check> checks_;  ///< Oldest first.
  std::set<Key> keys_;
  std::map<NodeId, std::size_t> by_source_;
  std::map<NodeId, std::uint64_t> departed_;
  std::deque<NodeId> departures_;
};

}  // namespace abacus
