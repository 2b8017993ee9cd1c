// The constants of the overlay: who is kept, how often one speaks, and when silence becomes suspicion.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace abacus {

/// Partial views. Sizes and walk lengths after HyParView (Leitao, Pereira and Rodrigues 2007): an active view of
/// log10(n) + 1 for n of 100,000, a passive view six to eight times as large.
struct ViewsConfig {
  std::size_t active_target = 6;          ///< Neighbours a node looks for.
  std::size_t active_max = 8;             ///< Neighbours it accepts; the slack lets seekers find a place.
  std::size_t passive_max = 48;           ///< Contacts kept to replace lost neighbours.
  std::uint8_t active_walk = 6;           ///< Hops of a ForwardJoin (ARWL).
  std::uint8_t passive_walk = 3;          ///< Hops left at which the joiner becomes a passive contact (PRWL).
  Duration reply_timeout = seconds(3);    ///< For a NeighbourReply: a handshake over a lossy wide-area link.
  Duration refill = seconds(1);           ///< Between attempts to fill the active view.
  Duration refill_max = seconds(30);      ///< Where attempts bear nothing, they back off up to this.
  Duration refusal_memory = seconds(20);  ///< A refused contact is not asked again for this long.
  Duration confirm = seconds(10);         ///< Between checks with one neighbour that both sides agree.
  Duration mix = seconds(15);             ///< Until a full view looks for one more neighbour anyway; doubles
  Duration mix_max = minutes(10);         ///< up to this, as cliques come from starts.
  Duration join_retry = seconds(1);       ///< First retry of an isolated node; doubles up to the maximum.
  Duration join_retry_max = seconds(30);
  Duration reach_out =
      seconds(20);  ///< Until a word to a lost contact or a seed, which is what heals partitions; doubles
  Duration reach_out_max = minutes(10);  ///< up to this, so that a seed of 5,000 nodes hears eight a second.
  std::size_t lost_max = 24;             ///< Lost contacts remembered.
  std::size_t seeds_max = 64;            ///< Configured contacts remembered for ever.
};
BOOST_DESCRIBE_STRUCT(ViewsConfig, (),
                      (active_target, active_max, passive_max, active_walk, passive_walk, reply_timeout, refill,
                       refill_max, refusal_memory, confirm, mix, mix_max, join_retry, join_retry_max, reach_out,
                       reach_out_max, lost_max, seeds_max))

/// Offers kept. Shares and retention are the outcome of the discovery experiments (design, section 4): with three live
/// offers of every device class retained, and places for rare classes in every shuffle, 20 holders among 100,000 nodes
/// are known to 98 % of them within a minute.
struct OfferCacheConfig {
  std::size_t capacity = 300;               ///< Offers of others.
  std::uint32_t own_region_permille = 600;  ///< Of what is not retained; the rest of the three is far.
  std::uint32_t near_permille = 300;
  std::size_t keep_per_class = 3;         ///< Live offers kept of each device class.
  std::uint32_t retained_permille = 600;  ///< Of the capacity, at most, for device classes: beyond it exchange freezes.
  std::size_t keep_per_region = 3;        ///< Contacts kept in each other region.
  std::uint32_t contacts_permille = 250;  ///< Of the capacity, at most, for contacts of other regions.
  Duration near_round_trip = milliseconds(40);  ///< Within a continent (95th percentiles between cloud regions).
};
BOOST_DESCRIBE_STRUCT(OfferCacheConfig, (),
                      (capacity, own_region_permille, near_permille, keep_per_class, retained_permille, keep_per_region,
                       contacts_permille, near_round_trip))

/// What is taken from others, and for how long.
struct IntakeConfig {
  Duration clock_skew = seconds(5);     ///< An offer may be dated this far ahead; NTP keeps hosts well within it.
  Duration offer_life_max = hours(1);   ///< However long an offer claims to be valid.
  Duration check_timeout = seconds(5);  ///< A signature check that did not come back was a failed one.
  std::size_t checks_max = 2'048;       ///< Offers out to be checked.
  std::size_t checks_per_peer = 384;    ///< Of those, from one peer: a sponsor's whole cache.
  std::size_t departed_max = 64;        ///< Nodes that said goodbye and whose old offers are not taken again.
};
BOOST_DESCRIBE_STRUCT(IntakeConfig, (),
                      (clock_skew, offer_life_max, check_timeout, checks_max, checks_per_peer, departed_max))

/// The node's own offer.
struct OwnOfferConfig {
  Duration valid_for = minutes(5);   ///< Section 4's experiments: expiry at 300 s.
  Duration sign_retry = seconds(5);  ///< The driver lost the request, or is slow.
  Duration resign_gap = seconds(1);  ///< Between two signatures, however fast the capacity changes.
};
BOOST_DESCRIBE_STRUCT(OwnOfferConfig, (), (valid_for, sign_retry, resign_gap))

/// Cyclon-like exchange (Voulgaris, Gavidia and van Steen 2005); numbers of the discovery experiments.
struct ShuffleConfig {
  Duration period = seconds(2);                 ///< +-25 %, drawn anew each time.
  std::size_t offers = 10;                      ///< Per message, the own one included.
  std::size_t rare_offers = 3;                  ///< Of those, of rare device classes.
  std::size_t rare_class_max = 6;               ///< A class with no more live offers than this in the cache is rare.
  std::uint32_t cached_contact_permille = 250;  ///< Share of shuffles with any cached contact and not a neighbour: each
                                                ///< costs a connection, but carries across clusters of neighbours.
  std::size_t welcome_offers = 24;              ///< Per message to a newcomer: about 6 kB.
  std::uint32_t welcomes_max = 20;              ///< Whole caches given away in a burst...
  Duration welcome_period = milliseconds(500);  ///< ...and one more per this time (about 150 kB/s at most).
  Duration exchange_timeout = seconds(5);       ///< A later reply tells nothing about the round trip.
  std::size_t search_contacts = 8;              ///< Shuffles of one search: half of them outside the own region.
  Duration search_gap = seconds(1);             ///< Searches closer together are one search.
};
BOOST_DESCRIBE_STRUCT(ShuffleConfig, (),
                      (period, offers, rare_offers, rare_class_max, cached_contact_permille, welcome_offers,
                       welcomes_max, welcome_period, exchange_timeout, search_contacts, search_gap))

/// SWIM (Das, Gupta and Motivala 2002) with Lifeguard (Dadgar, Phillips and Currey 2018).
struct DetectorConfig {
  Duration period = seconds(1);          ///< Between probes.
  Duration cycle_max = seconds(10);      ///< Every member is probed once in this time, several a period if need be.
  Duration timeout = milliseconds(500);  ///< Until indirect probes; at least three round trips.
  std::size_t indirect_probes = 3;
  std::uint32_t health_max = 8;           ///< Lifeguard's S: the local health multiplier stays within 1 + this.
  Duration suspicion_min = seconds(2);    ///< Until doubt becomes suspicion, when enough others doubt too...
  Duration suspicion_max = seconds(6);    ///< ...and when nobody does.
  Duration lingering_probe = seconds(5);  ///< First probe of a suspect node; doubles up to the maximum.
  Duration lingering_probe_max = minutes(1);
  Duration counterparty_probe_max = seconds(10);  ///< The same for a suspect counterparty of a lease.
  Duration linger = minutes(10);                  ///< A suspect that is no member any more is forgotten after this.
  std::size_t lingering_max = 64;
  std::size_t relays_max = 64;          ///< Probes made for others at a time.
  std::size_t rumours_per_message = 6;  ///< memberlist packs as many as fit a datagram; six cover an active view.
  std::uint32_t rumour_sends = 6;       ///< Of each rumour: lambda * log(members), lambda 3.
  std::size_t rumours_max = 32;         ///< Kept for sending.
};
BOOST_DESCRIBE_STRUCT(DetectorConfig, (),
                      (period, cycle_max, timeout, indirect_probes, health_max, suspicion_min, suspicion_max,
                       lingering_probe, lingering_probe_max, counterparty_probe_max, linger, lingering_max, relays_max,
                       rumours_per_message, rumour_sends, rumours_max))

/// Round trips: measured ones are smoothed as TCP does (RFC 6298: an eighth of the news).
struct RoundTripConfig {
  Duration same_region = milliseconds(1);  ///< Until something was measured.
  Duration other_region = milliseconds(30);
  Duration longest = seconds(10);  ///< A longer sample is a stall, not a distance.
  std::size_t peers_max = 128;
  std::size_t regions_max = 64;
};
BOOST_DESCRIBE_STRUCT(RoundTripConfig, (), (same_region, other_region, longest, peers_max, regions_max))

struct OverlayConfig {
  ViewsConfig views;
  OfferCacheConfig cache;
  IntakeConfig intake;
  OwnOfferConfig own_offer;
  ShuffleConfig shuffle;
  DetectorConfig detector;
  RoundTripConfig round_trips;
};
BOOST_DESCRIBE_STRUCT(OverlayConfig, (), (views, cache, intake, own_offer, shuffle, detector, round_trips))

}  // namespace abacus
