// How nodes find each other and notice each other's failure: HyParView (Leitao 2007), Cyclon shuffles (Voulgaris 2005)
// that carry offers, SWIM (Das 2002) with Lifeguard (Dadgar 2018).
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <vector>

#include "protocol/offer.h"

namespace abacus {

/// A newcomer's first word to a contact.
struct Join {
  Contact joiner;
};
BOOST_DESCRIBE_STRUCT(Join, (), (joiner))

/// A Join on its random walk.
struct ForwardJoin {
  Contact joiner;
  std::uint8_t hops_left = 0;
};
BOOST_DESCRIBE_STRUCT(ForwardJoin, (), (joiner, hops_left))

/// "Let us be neighbours." With `urgent` set (the asker has none, or found no place elsewhere) it must be accepted.
struct NeighbourRequest {
  Contact asker;
  bool urgent = false;
};
BOOST_DESCRIBE_STRUCT(NeighbourRequest, (), (asker, urgent))

struct NeighbourReply {
  bool accepted = false;
};
BOOST_DESCRIBE_STRUCT(NeighbourReply, (), (accepted))

/// "We are neighbours no longer"; the receiver keeps the sender as a passive contact.
struct Disconnect {
  bool leaving = false;  ///< The sender shuts down: forget it for now.
};
BOOST_DESCRIBE_STRUCT(Disconnect, (), (leaving))

/// Exchange of offers; the receiver answers with as many of its own.
struct Shuffle {
  std::uint32_t exchange = 0;
  std::vector<OfferRef> offers;
};
BOOST_DESCRIBE_STRUCT(Shuffle, (), (exchange, offers))

struct ShuffleReply {
  std::uint32_t exchange = 0;
  std::vector<OfferRef> offers;
};
BOOST_DESCRIBE_STRUCT(ShuffleReply, (), (exchange, offers))

enum class Liveness : std::uint8_t { alive, suspect, left };
BOOST_DESCRIBE_ENUM(Liveness, alive, suspect, left)

/// What somebody believes of a node; a higher incarnation overrides, and within one `suspect` overrides `alive`.
struct Rumour {
  NodeId node;
  Liveness state = Liveness::alive;
  std::uint64_t incarnation = 0;
};
BOOST_DESCRIBE_STRUCT(Rumour, (), (node, state, incarnation))

struct Ping {
  std::uint32_t probe = 0;
  std::vector<Rumour> rumours;
};
BOOST_DESCRIBE_STRUCT(Ping, (), (probe, rumours))

struct PingAck {
  std::uint32_t probe = 0;
  std::uint64_t incarnation = 0;
  std::vector<Rumour> rumours;
};
BOOST_DESCRIBE_STRUCT(PingAck, (), (probe, incarnation, rumours))

/// "Please ping `target` for me."
struct PingRequest {
  std::uint32_t probe = 0;
  Contact target;
};
BOOST_DESCRIBE_STRUCT(PingRequest, (), (probe, target))

/// The answer to a PingRequest: reached or (Lifeguard's nack) not.
struct PingRelay {
  std::uint32_t probe = 0;
  NodeId target;
  bool reached = false;
};
BOOST_DESCRIBE_STRUCT(PingRelay, (), (probe, target, reached))

Status validate(const Shuffle& shuffle);
Status validate(const ShuffleReply& reply);
Status validate(const Ping& ping);
Status validate(const PingAck& ack);

}  // namespace abacus
