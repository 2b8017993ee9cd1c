// Everything that can happen to a node. The driver hands events to Node::handle one at a time, each with the time.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "core/model/commands.h"
#include "protocol/message.h"

namespace abacus {

/// A message from a peer whose identity the transport vouches for.
struct MessageReceived {
  Contact from;  ///< The endpoint is unknown (port 0) unless the transport dialled it.
  OrgId organisation;
  TraceContext trace;
  Message message;
};

/// The transport could not reach a peer, or the connection broke. A hint, not a death certificate.
struct PeerLost {
  NodeId peer;
  std::string reason;
};

/// The time that Node::next_wake named has come.
struct WakeUp {};

/// This node's own offer, signed as asked for by SignOffer.
struct OfferSigned {
  OfferRef offer;
};

/// Those of the offers given to CheckOffers whose signatures hold.
struct OffersChecked {
  std::vector<OfferRef> offers;
};

/// The probe found (other) hardware.
struct CapacityProbed {
  Capacity capacity;
};

/// The user gave these contacts to join by, or the driver read them from its configuration.
struct ContactsGiven {
  std::vector<Contact> contacts;
};

/// Seller: the inputs of an attempt are in its working directory, or cannot be had (`problem` not empty).
struct InputsStaged {
  LeaseId lease;
  AttemptId attempt;
  std::string problem;
};

/// Seller: the process of an attempt runs.
struct ProcessStarted {
  LeaseId lease;
  AttemptId attempt;
  WallTime at;
};

/// Seller: it ended; the exit record is on disk and the outputs are in the store.
struct ProcessEnded {
  LeaseId lease;
  AttemptId attempt;
  TaskEnd end;
};

/// Seller: the shim of a lease died and took its processes with it.
struct LeaseProcessLost {
  LeaseId lease;
  std::string reason;
};

/// What the executor found still running, or ended meanwhile, after a restart.
struct AdoptedAttempt {
  AttemptId attempt;
  bool ended = false;
  TaskEnd end;  ///< If ended.
};
struct AdoptedLease {
  LeaseId lease;
  std::vector<AdoptedAttempt> attempts;
};
/// Comes once after Node::restore, before anything else happens to leases; empty on a first start.
struct RunsAdopted {
  std::vector<AdoptedLease> leases;
};

/// Buyer: the outputs of an attempt are stored and in place, or cannot be had (`problem` not empty).
struct OutputsFetched {
  AttemptId attempt;
  std::string problem;
};

/// The node is about to stop: say goodbye to the neighbours. Work goes on in its shims.
struct Leaving {};

using Event = std::variant<MessageReceived, PeerLost, WakeUp, OfferSigned, OffersChecked, CapacityProbed, ContactsGiven,
                           SubmitJob, CancelJob, PlanJob, Drain, InputsStaged, ProcessStarted, ProcessEnded,
                           LeaseProcessLost, RunsAdopted, OutputsFetched, Leaving>;

}  // namespace abacus
