// The negotiation: ask, quote or decline, award, accept or refuse.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "protocol/job.h"
#include "protocol/offer.h"
#include "protocol/resources.h"

namespace abacus {

/// A buyer's episode of asking; drawn by the buyer, unique for it.
using NegotiationId = std::uint64_t;

/// "What would `count` slots of this bundle cost?" Binds nobody.
struct Rfq {
  NegotiationId negotiation = 0;
  std::uint32_t round = 1;
  Bundle bundle;
  std::uint32_t count = 1;
  Duration lease_time;               ///< For how long the slots are wanted.
  Duration expected_run;             ///< Of one task; zero: unknown.
  std::optional<Price> price_limit;  ///< Above this a quote is of no use to the buyer.
  std::uint64_t input_bytes = 0;
  std::string region;      ///< The buyer's.
  bool plan_only = false;  ///< For `plan`: the seller remembers nothing and calls nobody back.
};
BOOST_DESCRIBE_STRUCT(Rfq, (),
                      (negotiation, round, bundle, count, lease_time, expected_run, price_limit, input_bytes, region,
                       plan_only))

/// A step of a seller's supply curve: `count` slots at this price.
struct Lot {
  std::uint32_t count = 0;
  Price price;           ///< For one slot.
  Money fee;             ///< Once for a task: distance, i.e. moving its inputs.
  Duration start_delay;  ///< Until work can start there.

  auto operator<=>(const Lot&) const = default;
};
BOOST_DESCRIBE_STRUCT(Lot, (), (count, price, fee, start_delay))

/// The parts of a price, for people and for `explain`.
struct PriceReason {
  Price energy;
  Price capacity;  ///< Capacity rate before load.
  std::uint32_t multiplier_permille = 1000;
  std::uint32_t utilisation_permille = 0;  ///< That the award would lead to.

  auto operator<=>(const PriceReason&) const = default;
};
BOOST_DESCRIBE_STRUCT(PriceReason, (), (energy, capacity, multiplier_permille, utilisation_permille))

/// The answer to an Rfq: prices are firm for `valid_for`, room is likely but held for nobody.
struct Quote {
  NegotiationId negotiation = 0;
  std::uint32_t round = 1;
  std::uint64_t quote = 0;  ///< The seller's name for it.
  std::vector<Lot> lots;    ///< Cheapest first.
  Duration valid_for;
  Duration lease_time_max;
  std::uint32_t room_permille = 1000;  ///< Stated probability that an award now would be accepted.
  std::string region;
  PriceReason reason;
};
BOOST_DESCRIBE_STRUCT(Quote, (),
                      (negotiation, round, quote, lots, valid_for, lease_time_max, room_permille, region, reason))

enum class DeclineReason : std::uint8_t {
  never_fits,     ///< The bundle is larger than the whole node.
  no_room,        ///< It fits, but not now.
  price_too_low,  ///< The buyer's limit is below the seller's price.
  lease_too_long,
  wrong_region,
  draining,       ///< The seller takes no new work.
  quote_expired,  ///< Award of a quote that is too old or unknown.
  bad_request
};
BOOST_DESCRIBE_ENUM(DeclineReason, never_fits, no_room, price_too_low, lease_too_long, wrong_region, draining,
                    quote_expired, bad_request)

/// Why not, the numbers behind it, and what would have been possible.
struct DeclineDetail {
  DeclineReason reason = DeclineReason::no_room;
  std::vector<Shortfall> shortfalls;  ///< For never_fits and no_room.
  std::optional<Price> lowest_price;  ///< For price_too_low: what it would take.
  std::uint32_t nearest_count = 0;    ///< Slots of this bundle that would fit now.
  Duration free_in;                   ///< When room is expected; zero: unknown.

  auto operator<=>(const DeclineDetail&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeclineDetail, (), (reason, shortfalls, lowest_price, nearest_count, free_in))

struct Decline {
  NegotiationId negotiation = 0;
  std::uint32_t round = 1;
  DeclineDetail detail;
  std::vector<OfferRef> referrals;  ///< Other holders of a rare device class; never who had room a moment ago.
};
BOOST_DESCRIBE_STRUCT(Decline, (), (negotiation, round, detail, referrals))

/// "I take `slots` of your quote", with the work and its first tasks. Reserves at the seller once accepted.
struct Award {
  LeaseId lease;
  NegotiationId negotiation = 0;
  std::uint64_t quote = 0;
  Bundle bundle;
  std::uint32_t slots = 0;
  Price price;  ///< The dearest lot taken decides: one price for all slots of a lease.
  Money fee;    ///< Once for a task.
  Duration lease_time;
  JobId job;
  WorkSpec work;
  Contact buyer;
  std::vector<AttemptId> attempts;  ///< To start at once, no more than the slots can be primed with.
  std::uint64_t input_bytes = 0;
};
BOOST_DESCRIBE_STRUCT(Award, (),
                      (lease, negotiation, quote, bundle, slots, price, fee, lease_time, job, work, buyer, attempts,
                       input_bytes))

/// The slots are reserved and the first tasks taken on. `slots` may be fewer than awarded, never none.
struct Accept {
  LeaseId lease;
  std::uint32_t slots = 0;
  Duration lease_time;
};
BOOST_DESCRIBE_STRUCT(Accept, (), (lease, slots, lease_time))

/// No lease came of the award; perhaps a fresh quote takes its place.
struct Refuse {
  LeaseId lease;
  DeclineDetail detail;
  std::optional<Quote> fresh;
};
BOOST_DESCRIBE_STRUCT(Refuse, (), (lease, detail, fresh))

/// "You asked when I had no room; now I have." A quote that answers an earlier Rfq.
struct CallBack {
  Quote quote;
};
BOOST_DESCRIBE_STRUCT(CallBack, (), (quote))

Status validate(const Rfq& rfq);
Status validate(const Lot& lot);
Status validate(const Quote& quote);
Status validate(const Decline& decline);
Status validate(const Award& award);
Status validate(const Accept& accept);

}  // namespace abacus
