// Everything that can happen to a node. The driver hands events to Node::handle one at a time, each with the time.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "core/model/commands.h"
#include "protocol/message.h"

namespace abacus {

/// A message from a peer whose identity the transport vouches for.
struct MessageReceived {
  Contact from;  ///< From elsewhere, the endpoint is unknown (port 0): connections do not say who listens where.
  OrgId organisation;
  TraceContext trace;
  Message message;
};
BOOST_DESCRIBE_STRUCT(MessageReceived, (), (from, organisation, trace, message))

/// The transport could not reach a peer, or the connection broke. A hint, not a death certificate.
struct PeerLost {
  NodeId peer;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(PeerLost, (), (peer, reason))

/// The time that Node::next_wake named has come.
struct WakeUp {};
BOOST_DESCRIBE_STRUCT(WakeUp, (), ())

/// This node's own offer, signed as asked for by SignOffer.
struct OfferSigned {
  OfferRef offer;
};
BOOST_DESCRIBE_STRUCT(OfferSigned, (), (offer))

/// Those of the offers given to CheckOffers whose signatures hold.
struct OffersChecked {
  std::vector<OfferRef> offers;
};
BOOST_DESCRIBE_STRUCT(OffersChecked, (), (offers))

/// The probe found (other) hardware.
struct CapacityProbed {
  Capacity capacity;
};
BOOST_DESCRIBE_STRUCT(CapacityProbed, (), (capacity))

/// The user gave these contacts to join by, or the driver read them from its configuration.
struct ContactsGiven {
  std::vector<Contact> contacts;
};
BOOST_DESCRIBE_STRUCT(ContactsGiven, (), (contacts))

/// Seller: the inputs of an attempt are in its working directory, or cannot be had (`problem` not empty).
struct InputsStaged {
  LeaseId lease;
  AttemptId attempt;
  std::string problem;
};
BOOST_DESCRIBE_STRUCT(InputsStaged, (), (lease, attempt, problem))

/// Seller: the process of an attempt runs.
struct ProcessStarted {
  LeaseId lease;
  AttemptId attempt;
  WallTime at;
};
BOOST_DESCRIBE_STRUCT(ProcessStarted, (), (lease, attempt, at))

/// Seller: it ended; the exit record is on disk and the outputs are in the store.
struct ProcessEnded {
  LeaseId lease;
  AttemptId attempt;
  TaskEnd end;
};
BOOST_DESCRIBE_STRUCT(ProcessEnded, (), (lease, attempt, end))

/// Seller: the shim of a lease died and took its processes with it.
struct LeaseProcessLost {
  LeaseId lease;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(LeaseProcessLost, (), (lease, reason))

/// What the executor found still running, or ended meanwhile, after a restart.
struct AdoptedAttempt {
  AttemptId attempt;
  bool ended = false;
  TaskEnd end;  ///< If ended.
};
BOOST_DESCRIBE_STRUCT(AdoptedAttempt, (), (attempt, ended, end))
struct AdoptedLease {
  LeaseId lease;
  std::vector<AdoptedAttempt> attempts;
};
BOOST_DESCRIBE_STRUCT(AdoptedLease, (), (lease, attempts))
/// Comes once after Node::restore, before anything else happens to leases; empty on a first start.
struct RunsAdopted {
  std::vector<AdoptedLease> leases;
};
BOOST_DESCRIBE_STRUCT(RunsAdopted, (), (leases))

/// Buyer: the outputs of an attempt are stored and in place, or cannot be had (`problem` not empty).
struct OutputsFetched {
  AttemptId attempt;
  std::string problem;
};
BOOST_DESCRIBE_STRUCT(OutputsFetched, (), (attempt, problem))

/// The node is about to stop: say goodbye to the neighbours. Work goes on in its shims.
struct Leaving {};
BOOST_DESCRIBE_STRUCT(Leaving, (), ())

using Event = std::variant<MessageReceived, PeerLost, WakeUp, OfferSigned, OffersChecked, CapacityProbed, ContactsGiven,
                           SubmitJob, CancelJob, PlanJob, Drain, InputsStaged, ProcessStarted, ProcessEnded,
                           LeaseProcessLost, RunsAdopted, OutputsFetched, Leaving>;

/// "MessageReceived", "WakeUp", ...
const char* name_of(const Event& event);

}  // namespace abacus
