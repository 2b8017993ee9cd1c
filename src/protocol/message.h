// Every message there is, and the envelope it travels in. The order of the list is the wire format: append only.
#pragma once

#include <boost/describe.hpp>
#include <variant>

#include "base/ids.h"
#include "protocol/lease_messages.h"
#include "protocol/overlay_messages.h"
#include "protocol/trade_messages.h"

namespace abacus {

/// W3C trace context: what ties the messages of one negotiation together across nodes.
struct TraceContext {
  Id<struct TraceTag, 16> trace;
  Id<struct SpanTag, 8> span;

  auto operator<=>(const TraceContext&) const = default;
};
BOOST_DESCRIBE_STRUCT(TraceContext, (), (trace, span))

using Message = std::variant<
    // overlay
    Join, ForwardJoin, NeighbourRequest, NeighbourReply, Disconnect, Shuffle, ShuffleReply, Ping, PingAck, PingRequest,
    PingRelay,
    // trade
    Rfq, Quote, Decline, Award, Accept, Refuse, CallBack,
    // lease
    Start, Started, Done, DoneAck, Interrupt, LeaseBeat, LeaseReport, Renew, Renewed, Release, Receipt, ReceiptAck>;

struct Envelope {
  Message message;
  TraceContext trace;
};
BOOST_DESCRIBE_STRUCT(Envelope, (), (message, trace))

/// "Rfq", "Quote", ...: for logs.
const char* name_of(const Message& message);

}  // namespace abacus
