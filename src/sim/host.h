// One simulated machine: a driver with the shipped node, its disk and its processes.
#pragma once

#include <memory>

#include "core/driver/driver.h"
#include "sim/disk.h"
#include "sim/processes.h"
#include "sim/simulation.h"

namespace abacus::sim {

/// The world of one driver. Owned by its simulation, which it calls for everything that takes time.
class Simulation::Host final : public World {
 public:
  Host(Simulation& simulation, NodeIndex index, NodeConfig config, std::uint32_t region)
      : simulation_(simulation), index_(index), config_(std::move(config)), region_(region) {}

  void start();
  void record(Recorder& recorder) { recorder_ = &recorder; }
  /// The agent stops between two instructions; `power_loss` takes the processes too.
  void crash(bool power_loss);
  void post(Event event);
  void committed();
  void process_due(const ProcessDue& due);
  /// A scheduled Wake has come; those that a nearer one has overtaken are stale.
  void wake_due();
  /// Lets an event happen to this node after a while, unless it crashes before.
  void later(Duration after, Event event);
  /// Lets the driver handle what is queued, and makes sure it is woken in time.
  void pump();

  bool up() const { return driver_ != nullptr; }
  std::uint64_t life() const { return life_; }
  const Driver* driver() const { return driver_.get(); }
  const NodeConfig& config() const { return config_; }
  const Disk& disk() const { return disk_; }
  const Processes& processes() const { return processes_; }
  std::uint32_t region() const { return region_; }

  void carry_out(Effect effect) override;
  void commit(std::vector<JournalChange> changes) override;
  Result<std::vector<Record>> load() override { return disk_.load(); }

 private:
  void act(const Send& send) { simulation_.transmit(index_, send); }
  void act(const KeepConnections&) {}
  void act(const SignOffer& sign);
  void act(const CheckOffers& check);
  void act(const AdoptRuns&) { later(Duration{}, processes_.inventory()); }
  void act(const OpenLease& open) { processes_.open(open.lease); }
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

  bool reachable(const Contact& other) const;
  void award_twice(const Effect& effect);

  Simulation& simulation_;
  NodeIndex index_;
  NodeConfig config_;
  std::uint32_t region_;
  Recorder* recorder_ = nullptr;
  std::uint64_t life_ = 0;  ///< Counts starts: what was scheduled in an earlier life does not reach a later one.
  std::unique_ptr<Driver> driver_;
  std::optional<MonoTime> wake_scheduled_;
  Disk disk_;
  MonoTime written_back_at_;  ///< For Sabotage::late_disk.
  Processes processes_;
};

/// The simulator's stand-in for a signature: a checksum over node and payload. Anybody could forge it, nobody does
/// unless a scenario says so.
Signature tag_of(const NodeId& node, BytesView payload);

}  // namespace abacus::sim
