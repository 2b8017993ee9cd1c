// What a node wants of the world. The node never calls out: it fills an Effects, and the driver carries it out.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/commands.h"
#include "core/model/event.h"
#include "core/model/records.h"
#include "protocol/message.h"

namespace abacus {

struct Send {
  Contact to;  ///< With port 0 only an existing connection can carry it.
  TraceContext trace;
  Message message;
};
BOOST_DESCRIBE_STRUCT(Send, (), (to, trace, message))

/// Keep a connection to each of these from now on, and to no others for their own sake.
struct KeepConnections {
  std::vector<Contact> peers;
};
BOOST_DESCRIBE_STRUCT(KeepConnections, (), (peers))

/// Sign this node's own offer; comes back as OfferSigned.
struct SignOffer {
  Offer offer;
};
BOOST_DESCRIBE_STRUCT(SignOffer, (), (offer))

/// Check the signatures of these; the good ones come back as OffersChecked.
struct CheckOffers {
  std::vector<OfferRef> offers;
};
BOOST_DESCRIBE_STRUCT(CheckOffers, (), (offers))

/// Find what runs or ended while the agent was away; comes back as RunsAdopted. Asked for once, by Node::start.
struct AdoptRuns {};
BOOST_DESCRIBE_STRUCT(AdoptRuns, (), ())

/// Seller: make ready for processes of a lease (its shim).
struct OpenLease {
  LeaseId lease;
  NodeId buyer;
  std::uint32_t slots = 0;
  WallTime until;  ///< Without a word from the agent by then (and a grace), everything of the lease ends.
};
BOOST_DESCRIBE_STRUCT(OpenLease, (), (lease, buyer, slots, until))

/// Seller: the lease goes on until then.
struct ExtendLease {
  LeaseId lease;
  WallTime until;
};
BOOST_DESCRIBE_STRUCT(ExtendLease, (), (lease, until))

/// Seller: end whatever still runs for the lease and remove its traces. Harmless for an unknown lease.
struct CloseLease {
  LeaseId lease;
};
BOOST_DESCRIBE_STRUCT(CloseLease, (), (lease))

/// Seller: put the inputs in place; comes back as InputsStaged.
struct StageInputs {
  LeaseId lease;
  AttemptId attempt;
  Contact from;
  Digest input;
};
BOOST_DESCRIBE_STRUCT(StageInputs, (), (lease, attempt, from, input))

/// Seller: start the process; comes back as ProcessStarted and ProcessEnded (or ProcessEnded alone).
struct Launch {
  LeaseId lease;
  AttemptId attempt;
  NodeId buyer;
  WorkSpec work;
  Bundle bundle;
  std::vector<std::uint32_t> devices;  ///< Indices given to this attempt, in the order of the bundle's needs.
  WallTime until;
};
BOOST_DESCRIBE_STRUCT(Launch, (), (lease, attempt, buyer, work, bundle, devices, until))

/// Seller: SIGTERM, grace, SIGKILL; comes back as ProcessEnded.
struct InterruptProcess {
  LeaseId lease;
  AttemptId attempt;
  Duration grace;
};
BOOST_DESCRIBE_STRUCT(InterruptProcess, (), (lease, attempt, grace))

/// Seller: the buyer has everything; delete the attempt's files and record.
struct ForgetAttempt {
  LeaseId lease;
  AttemptId attempt;
};
BOOST_DESCRIBE_STRUCT(ForgetAttempt, (), (lease, attempt))

/// Buyer: get the outputs of an ended attempt and put them in place; comes back as OutputsFetched.
struct FetchOutputs {
  AttemptId attempt;
  Contact from;
  Digest output;
  std::string output_dir;
};
BOOST_DESCRIBE_STRUCT(FetchOutputs, (), (attempt, from, output, output_dir))

/// To whoever gave the command.
struct Answer {
  RequestId request = 0;
  CommandAnswer answer;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (request, answer))

/// Something a follower of the job may want to look at changed.
struct TaskChanged {
  TaskId task;
  bool ended = false;
};
BOOST_DESCRIBE_STRUCT(TaskChanged, (), (task, ended))
struct JobChanged {
  JobId job;
  bool ended = false;
};
BOOST_DESCRIBE_STRUCT(JobChanged, (), (job, ended))

/// A line for people, with the trace it belongs to.
struct Log {
  enum class Level : std::uint8_t { debug, info, warning };
  Level level = Level::info;
  TraceContext trace;
  std::string text;
};
BOOST_DESCRIBE_ENUM(Log::Level, debug, info, warning)
BOOST_DESCRIBE_STRUCT(Log, (), (level, trace, text))

using Effect = std::variant<Send, KeepConnections, SignOffer, CheckOffers, AdoptRuns, OpenLease, ExtendLease,
                            CloseLease, StageInputs, Launch, InterruptProcess, ForgetAttempt, FetchOutputs, Answer,
                            TaskChanged, JobChanged, Log>;

/// "Send", "Launch", ...
const char* name_of(const Effect& effect);

/// What came of one or more events, in order. Soft effects may leave at once; held ones only when all changes that were
/// recorded before them are durable.
class Effects {
 public:
  template <class R>
  void put(const R& record) {
    changes.push_back(put_change(record));
  }

  template <class R, class Key>
  void erase(const Key& key) {
    changes.push_back(erase_change<R>(key));
  }

  void soft(Effect effect) { now.push_back(std::move(effect)); }
  void after_commit(Effect effect) { held.push_back(std::move(effect)); }

  void send(const Contact& to, const TraceContext& trace, Message message) {
    soft(Send{to, trace, std::move(message)});
  }

  /// Puts what came of a later event behind, and leaves it empty. Held starts and acknowledgements for a lease join the
  /// message that waits already: many ends that are handled together make few messages.
  void append(Effects& later);

  std::vector<JournalChange> changes;
  std::vector<Effect> now;
  std::vector<Effect> held;

 private:
  bool joins(Effect& effect);
  template <class M>
  bool joins_message(Send& send);

  std::map<std::pair<LeaseId, std::size_t>, std::size_t> waiting_;  ///< Lease and kind: a place in `held`.
};

}  // namespace abacus
