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
#include "core/driver/driver.h"
#include "protocol/job.h"
#include "sim/disk.h"
#include "sim/event_heap.h"
#include "sim/faults.h"
#include "sim/network.h"
#include "sim/observer.h"
#include "sim/processes.h"
#include "sim/sabotage.h"

namespace abacus::sim {

/// One node as the simulation is to make it.
struct NodeSetup {
  std::string region;
  Capacity capacity;
  PricingConfig pricing;
};

struct SimulationConfig {
  std::uint64_t seed = 1;
  std::vector<NodeSetup> nodes;
  NetworkConfig network;
  Duration commit_latency = microseconds(250);
  bool through_codec = true;  ///< Encode and decode each message, as a wire would.
  OverlayConfig overlay;
  SellingConfig selling;
  BuyingConfig buying;
  Sabotages sabotage;  ///< Bugs on purpose; none outside tests of the checkers.
};

/// A job known to be in custody: its submission was acknowledged.
struct AcceptedJob {
  NodeIndex custodian = 0;
  JobSubmitted submitted;
  JobSpec spec;
};

/// Deterministic: configuration, seed and schedule decide everything. One thread.
class Simulation {
 public:
  explicit Simulation(SimulationConfig config);
  ~Simulation();

  /// Checkers must outlive the simulation.
  void watch(Checker& checker) { checkers_.push_back(&checker); }

  /// Tells `recorder` of one node's inputs, from its next start on. It must outlive the simulation.
  void record(NodeIndex node, Recorder& recorder);

  // What is to happen; call before or during the run.
  void start_node(MonoTime at, NodeIndex node);
  void submit(MonoTime at, NodeIndex node, JobSpec spec);
  void cancel(MonoTime at, NodeIndex node, std::size_t accepted_job);
  void crash(MonoTime at, NodeIndex node, bool power_loss);
  void partition(MonoTime at, std::set<NodeIndex> side);
  void heal(MonoTime at);
  void calm(MonoTime at);

  /// Handles everything up to `until`, then sets the clock there.
  void run_until(MonoTime until);
  /// Runs until every accepted task has ended, or `until`. True if all ended.
  bool run_until_settled(MonoTime until);

  /// Calls at_end of the checkers.
  void finish();

  Now now() const { return {now_, WallTime{kEpochNs + now_.ns}}; }
  std::size_t size() const { return nodes_.size(); }
  /// Null while the agent is down.
  const Node* node(NodeIndex index) const;
  const Processes& processes(NodeIndex index) const;
  const Capacity& capacity(NodeIndex index) const { return config_.nodes[index].capacity; }
  std::optional<NodeIndex> index_of(const NodeId& id) const;
  const NodeId& id_of(NodeIndex index) const;
  const std::vector<AcceptedJob>& accepted() const { return accepted_; }
  std::uint64_t events_handled() const { return events_handled_; }
  const FaultCounts& faults() const { return faults_; }
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
  struct Wake {
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
  struct StartNode {
    NodeIndex node;
  };
  struct Crash {
    NodeIndex node;
    bool power_loss;
  };
  struct Submit {
    NodeIndex node;
    std::shared_ptr<const JobSpec> spec;
  };
  struct Cancel {
    NodeIndex node;
    std::size_t job;
  };
  struct Partition {
    std::set<NodeIndex> side;
  };
  struct Heal {};
  struct Calm {};
  using Happening =
      std::variant<Deliver, Post, Wake, Committed, ProcessDue, StartNode, Crash, Submit, Cancel, Partition, Heal, Calm>;

  static constexpr std::int64_t kEpochNs = 1'800'000'000'000'000'000;  // Wall time of virtual time zero.

  void step();
  void happen(Deliver& deliver);
  void happen(Post& post);
  void happen(Wake& wake);
  void happen(Committed& committed);
  void happen(ProcessDue& due);
  void happen(StartNode& start);
  void happen(Crash& crash);
  void happen(Submit& submit);
  void happen(Cancel& cancel);
  void happen(Partition& partition);
  void happen(Heal&) { network_.heal(); }
  void happen(Calm&) { network_.calm(); }

  void schedule(Duration after, Happening happening) { agenda_.push(now_ + after, std::move(happening)); }
  void transmit(NodeIndex from, const Send& send);
  void answered(NodeIndex node, const Answer& answer);
  bool all_ended() const;
  bool sabotaged(Sabotage how) const { return config_.sabotage.contains(how); }

  SimulationConfig config_;
  Prng prng_;
  Network network_;
  EventHeap<Happening> agenda_;
  MonoTime now_;
  std::vector<std::unique_ptr<Host>> nodes_;
  std::map<NodeId, NodeIndex> index_;
  std::map<std::string, std::uint32_t> regions_;
  std::vector<Checker*> checkers_;
  std::vector<AcceptedJob> accepted_;
  std::map<RequestId, JobSpec> submissions_;
  RequestId next_request_ = 1;
  std::uint64_t events_handled_ = 0;
  std::uint64_t messages_sent_ = 0;
  FaultCounts faults_;
};

}  // namespace abacus::sim
