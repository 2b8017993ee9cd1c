// A market in virtual time: many nodes, the shipped core and driver, a simulated network, disks and processes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/prng.h"
#include "base/time.h"
#include "core/driver/world.h"
#include "core/node.h"
#include "sim/disk.h"
#include "sim/event_heap.h"
#include "sim/fault_points.h"
#include "sim/network.h"
#include "sim/observer.h"
#include "sim/plan.h"
#include "sim/processes.h"
#include "sim/sabotage.h"

namespace abacus::sim {

/// A job known to be in custody: its submission was acknowledged.
struct AcceptedJob {
  NodeIndex custodian = 0;
  JobSubmitted submitted;
  std::size_t planned = 0;  ///< Its place in the plan's list.
};

/// What happened beside the market's own doing.
struct Misfortunes {
  std::map<FaultKind, std::uint64_t> faults;   ///< That began and found something to strike.
  std::map<FaultPoint, std::uint64_t> points;  ///< How often each rare path was taken.
  std::uint64_t messages_lost = 0;
  std::uint64_t messages_repeated = 0;

  void add(const Misfortunes& other);
};

/// Deterministic: the plan decides everything. One thread.
class Simulation {
 public:
  /// Requires a valid plan. `make_inhabitant`: who lives on the machines; empty: the shipped node and its driver.
  explicit Simulation(Plan plan, Sabotages sabotage = {}, InhabitantFactory make_inhabitant = {});
  ~Simulation();

  /// Checkers must outlive the simulation.
  void watch(Checker& checker) { checkers_.push_back(&checker); }

  /// Tells `recorder` of one node's inputs, from its next start on. It must outlive the simulation.
  void record(NodeIndex node, Recorder& recorder);

  /// A misfortune that the plan does not have (its times do not count): holds from now on until `end` with the number
  /// that this returns.
  std::size_t begin(Fault fault);
  void end(std::size_t fault);
  /// The shim of a lease dies now, with everything that runs in it.
  void kill_shim(NodeIndex node, const LeaseId& lease);

  /// Handles everything up to `until`, then sets the clock there.
  void run_until(MonoTime until);
  /// The whole plan: through its faults, on until every accepted task has ended or there is no time left for it, and a
  /// while after that, so that everything can come to rest. Calls at_end of the checkers.
  void run();

  Now now() const { return {now_, WallTime{kEpochNs + now_.ns}}; }
  const Plan& plan() const { return plan_; }
  std::size_t size() const { return nodes_.size(); }
  /// Null while the agent is down, and on a machine without a node.
  const Node* node(NodeIndex index) const;
  /// As the node's own clocks show it.
  Now now_at(NodeIndex index) const;
  const Processes& processes(NodeIndex index) const;
  /// What is durable at a node.
  const Disk& disk(NodeIndex index) const;
  std::optional<NodeIndex> index_of(const NodeId& id) const;
  const NodeId& id_of(NodeIndex index) const;
  const std::vector<AcceptedJob>& accepted() const { return accepted_; }
  /// Whether the custodian is up and says so.
  bool has_ended(const AcceptedJob& job) const;
  bool all_ended() const;
  /// When the last fault began or ended, and how many hold now.
  MonoTime disturbed_at() const { return disturbed_at_; }
  std::size_t faults_hold() const { return faults_hold_; }
  std::uint64_t events_handled() const { return events_handled_; }
  std::uint64_t messages_sent() const { return messages_sent_; }
  /// The most happenings that were scheduled at a time.
  std::size_t agenda_peak() const { return agenda_.peak(); }
  Misfortunes misfortunes() const;
  std::vector<Violation> violations() const;

  /// A digest of all disks, processes and counters: equal for equal histories.
  std::uint64_t state_hash() const;

 private:
  class Host;
  struct Deliver {
    NodeIndex from, to;
    std::shared_ptr<const Bytes> bytes;
    std::shared_ptr<const Envelope> envelope;
  };
  struct Post {
    NodeIndex node;
    std::uint64_t life;
    std::shared_ptr<const Event> event;
  };
  /// Due at one host, unless its agent has another life by then.
  struct Wake {
    NodeIndex node;
    std::uint64_t life;
  };
  struct PumpDue {
    NodeIndex node;
    std::uint64_t life;
  };
  struct AdoptionDue {
    NodeIndex node;
    std::uint64_t life;
  };
  struct Committed {
    NodeIndex node;
    std::uint64_t life;
  };
  struct ProcessDue {
    NodeIndex node;
    LeaseId lease;
    AttemptId attempt;
    std::uint64_t generation;
  };
  struct ShimDies {
    NodeIndex node;
    LeaseId lease;
  };
  struct StartNode {
    NodeIndex node;
  };
  struct Submit {
    std::size_t job;
  };
  struct Cancel {
    std::size_t job;
  };
  struct FaultBegins {
    std::size_t fault;
  };
  struct FaultEnds {
    std::size_t fault;
  };
  struct Calm {};
  struct Second {};
  using Happening = std::variant<Deliver, Post, Wake, PumpDue, AdoptionDue, Committed, ProcessDue, ShimDies, StartNode,
                                 Submit, Cancel, FaultBegins, FaultEnds, Calm, Second>;

  static constexpr std::int64_t kEpochNs = 1'800'000'000'000'000'000;  // Wall time of virtual time zero.

  void make_hosts();
  NodeId new_id(NodeIndex index);
  void schedule_plan();
  void step();

  void happen(Deliver& deliver);
  void happen(Post& post);
  void happen(Wake& wake);
  void happen(PumpDue& due);
  void happen(AdoptionDue& due);
  void happen(Committed& committed);
  void happen(ProcessDue& due);
  void happen(ShimDies& dies);
  void happen(StartNode& start);
  void happen(Submit& submit);
  void happen(Cancel& cancel);
  void happen(FaultBegins& begins);
  void happen(FaultEnds& ends);
  void happen(Calm&);
  void happen(Second&);

  /// True if it found something to strike.
  bool strike(const Fault& fault, NodeIndex node);
  void undo(const Fault& fault, NodeIndex node);
  void start_agent(NodeIndex node);

  /// The host that something was scheduled for; null if its agent is another one by now.
  template <class Due>
  Host* alive(const Due& due);
  void schedule(Duration after, Happening happening) { agenda_.push(now_ + after, std::move(happening)); }
  void schedule_at(Duration at, Happening happening) { agenda_.push(MonoTime{} + at, std::move(happening)); }
  void transmit(NodeIndex from, const Send& send);
  void answered(NodeIndex node, const Answer& answer);
  bool sabotaged(Sabotage how) const { return sabotage_.contains(how); }

  Plan plan_;
  Sabotages sabotage_;
  InhabitantFactory make_inhabitant_;
  Prng prng_;
  Network network_;
  FaultPoints points_;
  EventHeap<Happening> agenda_;
  MonoTime now_, disturbed_at_;
  std::size_t faults_hold_ = 0;
  std::vector<std::unique_ptr<Host>> nodes_;
  std::vector<Checker*> checkers_;
  std::vector<AcceptedJob> accepted_;
  std::map<RequestId, std::size_t> submissions_;  ///< Under way, with the place of the job in the plan.
  RequestId next_request_ = 1;
  std::uint64_t events_handled_ = 0;
  std::uint64_t messages_sent_ = 0;
  Misfortunes misfortunes_;
};

}  // namespace abacus::sim
