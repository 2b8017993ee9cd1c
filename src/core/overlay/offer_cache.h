// Offers heard: a few hundred of all there are, chosen so that the own region, the neighbourhood, the rest of the world
// and every rare kind of device are represented.
//
// Invariants (properties in offer_cache_test.cc):
//  1. One offer a node, the one of the highest sequence; ordered by node id; at most `capacity` besides the own one.
//  2. Nothing expired survives `expire`, so nothing expired counts as retained (where it does, knowledge of rare
//  classes
//     decays: the trap of the discovery experiments).
//  3. Eviction leaves at least `keep_per_class` offers of a device class that had them, as long as all retained offers
//     fit `retained_permille` of the capacity; beyond that the number kept per class sinks for all classes alike.
//     The same holds for contacts of other regions and `contacts_permille`.
//  4. What is evicted comes from the stratum (own region, near, far) that most exceeds its share of the rest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/time.h"
#include "core/overlay/overlay_config.h"
#include "core/overlay/round_trips.h"
#include "core/overlay/tally.h"
#include "protocol/offer.h"

namespace abacus {

/// Which contacts `OfferCache::random_contact` may draw.
enum class Where : std::uint8_t { anywhere, own_region, elsewhere };

class OfferCache {
 public:
  /// `round_trips` outlives the cache.
  OfferCache(const OfferCacheConfig& config, const NodeId& self, std::string own_region, const RoundTrips& round_trips,
             Prng prng);
  OfferCache(const OfferCache&) = delete;  // The tallies point into themselves.
  OfferCache& operator=(const OfferCache&) = delete;

  /// Takes an offer whose signature holds, valid until `until`. Returns false, changing nothing, if one at least as
  /// fresh is held. May evict another one, or the same. The own offer is never evicted.
  bool insert(OfferRef offer, WallTime until);

  /// Removes what has expired, and sorts regions anew into near and far.
  void expire(WallTime now);

  void erase(const NodeId& node);

  /// All offers, own included, in order of node id.
  std::span<const OfferRef> offers() const { return offers_; }
  /// Null if not held.
  OfferRef find(const NodeId& node) const;
  /// The offer's sequence, or none.
  std::optional<std::uint64_t> sequence_of(const NodeId& node) const;

  /// Up to `count` different offers of others for an exchange with `partner` (whose own is left out): `rare` places go
  /// to classes with at most `rare_class_max` offers here, each class alike; the others are drawn at random.
  std::vector<OfferRef> sample(std::size_t count, std::size_t rare, std::size_t rare_class_max, const NodeId& partner);

  /// A random other node that can be dialled; none if a few draws find none.
  std::optional<Contact> random_contact(Where where);

  /// Offers of a class ("gpu:a100") and of a region held, own not counted.
  std::size_t holders_of(const std::string& device_class) const;
  std::size_t nodes_in(const std::string& region) const;

 private:
  enum class Stratum : std::uint8_t { own_region, near, far };
  /// What eviction goes by. Small: scans over it are most of what an insertion costs.
  struct Tag {
    Tally::Number region = kOwn;  ///< kOwn for the own offer, which is not counted.
    Tally::Number shape = 0;      ///< Which device classes it has.

    bool own() const { return region == kOwn; }
  };
  static constexpr Tally::Number kOwn = ~Tally::Number{0};
  /// Entries with no more companions than this are kept.
  struct Levels {
    std::size_t per_class = 0;
    std::size_t per_region = 0;
  };

  std::size_t position_of(const NodeId& node) const;
  bool holds(std::size_t position, const NodeId& node) const;
  Stratum stratum_of(const Tag& tag) const { return strata_[tag.region]; }
  Tag count_in(const Offer& offer);
  void count_out(const Tag& tag);
  Tally::Number shape_of(const Capacity& capacity);
  void remove(std::size_t position);
  Stratum stratum_by_distance(const std::string& region) const;
  std::vector<std::size_t> rarities() const;
  Levels levels(const std::vector<std::size_t>& rarities) const;
  std::vector<std::uint32_t> not_retained(const Levels& kept, const std::vector<std::size_t>& rarities) const;
  Stratum fullest(const std::array<std::size_t, 3>& counts) const;
  void evict_one();
  void add_rare(std::size_t count, std::size_t rare_class_max, const NodeId& partner, std::vector<std::size_t>& picked);
  bool pick(std::size_t position, const NodeId& partner, std::vector<std::size_t>& picked) const;

  OfferCacheConfig config_;
  NodeId self_;
  std::string own_region_;
  const RoundTrips& round_trips_;
  Prng prng_;
  // By node id, parallel.
  std::vector<NodeId> nodes_;
  std::vector<OfferRef> offers_;
  std::vector<Tag> tags_;
  std::vector<WallTime> untils_;
  Tally regions_, classes_, shapes_;
  std::vector<Stratum> strata_;                            ///< By number of the region.
  std::vector<std::vector<Tally::Number>> shape_classes_;  ///< By number of the shape.
  WallTime first_expiry_{INT64_MAX};                       ///< Not later than the true one.
};

/// The names of the device classes on offer ("gpu:a100"), each once, in order.
std::vector<std::string> device_classes(const Capacity& capacity);

}  // namespace abacus
