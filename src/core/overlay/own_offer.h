// What this node says about itself: its offer, numbered, and signed anew before it grows old.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/effects.h"
#include "core/overlay/overlay_config.h"
#include "protocol/offer.h"

namespace abacus {

class OwnOffer {
 public:
  /// `epoch` counts the starts of the node, so that sequences (epoch << 32 | counter) never repeat.
  OwnOffer(const OwnOfferConfig& config, Contact self, const OrgId& organisation, std::string region, Capacity capacity,
           std::uint64_t epoch);

  /// Asks for a signature if one is due: none yet, other capacity, half of the life gone, or the wall clock jumped. To
  /// be called every few seconds.
  void refresh(Now now, Effects& effects);

  void capacity_is(const Capacity& capacity, Now now, Effects& effects);

  /// Takes the signed offer; false if it is not the one asked for last.
  bool signed_as(const OfferRef& offer);

  /// Somebody holds a genuine offer of this node with that sequence, from a life whose journal was lost: go above it.
  void overtake(std::uint64_t sequence, Now now, Effects& effects);

  /// The latest signed; null before the first.
  const OfferRef& current() const { return current_; }
  std::uint64_t sequence() const { return wanted_.sequence; }

 private:
  bool due(Now now) const;

  OwnOfferConfig config_;
  Offer wanted_;  ///< As it was last given out to be signed.
  OfferRef current_;
  std::optional<MonoTime> asked_at_;
  bool changed_ = true;  ///< `wanted_` says something that has not been given out yet.
};

}  // namespace abacus
