// What buying may ask of the overlay: who is out there. An interface, so that buying is tested without an overlay.
#pragma once

#include <span>

#include "base/time.h"
#include "protocol/offer.h"

namespace abacus {

class Peers {
 public:
  virtual ~Peers() = default;

  /// Offers heard, own included, in order of node id: a view into the overlay's own list (a negotiation copies
  /// nothing), valid until the next non-const call. What expired is removed within a second or two, so the latest may
  /// still be there.
  virtual std::span<const OfferRef> offers(WallTime now) const = 0;
  /// The freshest offer of a node, expired or not; null if never heard of.
  virtual OfferRef find(const NodeId& node) const = 0;
  /// Suspected by the failure detector: no new awards. Unknown nodes are not suspect.
  virtual bool is_suspect(const NodeId& node) const = 0;
  /// Smoothed round trip to a node: measured, or its region's, or a default.
  virtual Duration round_trip(const NodeId& node) const = 0;
};

}  // namespace abacus
