// One simulated machine: who lives on it, its disk, its clock and its processes.
#pragma once

#include <memory>

#include "core/driver/world.h"
#include "sim/connections.h"
#include "sim/disk.h"
#include "sim/processes.h"
#include "sim/simulation.h"

namespace abacus::sim {

/// The world of one inhabitant. Owned by its simulation, which it calls for everything that takes time.
class Simulation::Host final : public World {
 public:
  Host(Simulation& simulation, NodeIndex index, NodeConfig config, Duration clock_offset)
      : simulation_(simulation), index_(index), config_(std::move(config)), clock_offset_(clock_offset) {}

  void start();
  void record(Recorder& recorder) { recorder_ = &recorder; }
  /// The agent stops between two instructions; `power_loss` takes the processes too.
  void crash(bool power_loss);
  void post(Event event);
  /// Lets the inhabitant handle what is queued, and makes sure it is woken in time; not now if it stands still or is
  /// slow.
  void pump();
  /// Lets an event happen to this node after a while, unless it crashes before.
  void later(Duration after, Event event);

  /// True if a message can be on its way to `contact`, which is `peer`: they are connected, or it is known where to
  /// dial.
  bool can_reach(const Contact& contact, const Host& peer) const;
  /// They speak with one another now.
  void connect(Host& peer);

  // What was scheduled comes due.
  void committed();
  void process_due(const ProcessDue& due);
  void shim_dies(const LeaseId& lease);
  void wake_due();  ///< A Wake that a nearer one has overtaken is stale.
  void pump_due();
  void adoption_due();

  // Faults.
  void pause() { ++pauses_; }
  void resume();
  void slow_down(Duration by) { slowness_ += by; }
  void step_clock(Duration by) { clock_offset_ += by; }
  void fill_disk() { ++disk_full_; }
  void empty_disk() { --disk_full_; }
  void slow_disk(Duration by) { disk_slowness_ += by; }

  bool up() const { return inhabitant_ != nullptr; }
  std::uint64_t life() const { return life_; }
  Now now() const { return {simulation_.now_, simulation_.now().wall + clock_offset_}; }
  const Node* node() const { return up() ? inhabitant_->node() : nullptr; }
  const NodeConfig& config() const { return config_; }
  const Disk& disk() const { return disk_; }
  const Processes& processes() const { return processes_; }

  void carry_out(Effect effect) override;
  void commit(std::vector<JournalChange> changes) override;
  Result<std::vector<Record>> load() override { return disk_.load(); }

 private:
  void act(const Send& send) { simulation_.transmit(index_, send); }
  void act(const KeepConnections&) {}
  void act(const SignOffer& sign);
  void act(const CheckOffers& check);
  void act(const AdoptRuns&);
  void act(const OpenLease& open) { processes_.open(open, life_); }
  void act(const ExtendLease&) {}
  void act(const CloseLease& close) { processes_.close(close.lease); }
  void act(const StageInputs& stage);
  void act(const Launch& launch);
  void act(const InterruptProcess& interrupt);
  void act(const ForgetAttempt& forget) { processes_.forget(forget.lease, forget.attempt); }
  void act(const FetchOutputs& fetch);
  void act(const Answer& answer) { simulation_.answered(index_, answer); }
  void act(const TaskChanged&) {}
  void act(const JobChanged&) {}
  void act(const Log&) {}

  void run_inhabitant();
  bool strikes(FaultPoint point) { return simulation_.points_.strikes(point); }
  bool reachable(const Contact& other) const;
  void expect_end(const SimProcess& process);
  void use_connection(Host& peer);
  void break_connections();
  /// Changes, repeats or swallows what leaves the machine, as the sabotage says. False: swallowed.
  bool tamper(Effect& effect);
  void award_twice(const Send& send, const Award& award);
  void show_and_act(const Effect& effect);

  Simulation& simulation_;
  NodeIndex index_;
  NodeConfig config_;
  Recorder* recorder_ = nullptr;
  std::uint64_t life_ = 0;  ///< Counts starts: what was scheduled in an earlier life does not reach a later one.
  std::unique_ptr<Inhabitant> inhabitant_;
  std::optional<MonoTime> wake_scheduled_;
  bool pump_scheduled_ = false;
  bool commit_waits_ = false;  ///< It is through, but the agent stands still.
  bool adopted_ = false;  ///< The agent knows what runs; until then it is not told of ends of what it did not start.
  Connections connections_;
  Disk disk_;
  MonoTime written_back_at_;  ///< For Sabotage::late_disk.
  Processes processes_;
  Duration clock_offset_, slowness_, disk_slowness_;
  int pauses_ = 0, disk_full_ = 0;  ///< How many faults hold at once.
};

/// The simulator's stand-in for a signature: a checksum over node and payload. Anybody could forge it, nobody does
/// unless a scenario says so.
Signature tag_of(const NodeId& node, BytesView payload);

}  // namespace abacus::sim
