// Persist, then promise: carries events into a node and its effects out of it. The same code drives a real agent and a
// simulated one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/driver/world.h"
#include "core/node.h"

namespace abacus {

/// Batches events, gathers their journal changes into one transaction, and releases what depended on them when it is
/// durable. One thread; `world` and `recorder` (null: none) outlive the driver.
class Driver final : public Inhabitant {
 public:
  Driver(NodeConfig config, World& world, Recorder* recorder = nullptr)
      : config_(std::move(config)), world_(world), recorder_(recorder) {}

  /// Builds the node from the journal. Errors: those of World::load, and `corrupt` for records that cannot be all; the
  /// driver is then unusable.
  Status start(Now now) override;

  /// Queues an event for the next `run`; drops it after a failed commit, until the node goes on.
  void post(Event event) override {
    if (!goes_on_at_) inbox_.push_back(std::move(event));
  }

  /// Handles a number of queued events (a due WakeUp first) and what they loop back to the node itself, releases soft
  /// effects, starts a commit if one is due. Returns true if events are left.
  bool run(Now now) override;

  /// The outcome of the commit that is out. After a failure the node is dropped and rebuilt from the journal: nothing
  /// that was not durable was promised to anybody. It shows itself at once and goes on after a pause, which doubles
  /// from failure to failure: a full disk does not fill up the network too. Errors: those of `start`.
  Status committed(const Status& outcome, Now now) override;
  std::optional<MonoTime> next_wake() const override;
  bool pausing() const override { return goes_on_at_.has_value(); }

  /// Null before start and after a failed restart.
  const Node* node() const override { return node_.get(); }
  std::uint64_t events_handled() const { return events_handled_; }
  std::uint64_t commits() const { return commits_; }

 private:
  Status rebuild();
  void go_on(Now now);
  void keep_contacts();
  void handle(const Event& event, Now now);
  void release_soft();
  void release(std::vector<Effect>& effects);
  void begin_commit();

  NodeConfig config_;
  World& world_;
  Recorder* recorder_;
  std::unique_ptr<Node> node_;
  std::deque<Event> inbox_;
  Effects of_event_;                ///< Empty between two events; keeps its memory.
  Effects gathering_;               ///< Since the last commit was started.
  std::vector<Effect> committing_;  ///< Held by the commit that is out.
  bool commit_out_ = false;
  std::optional<MonoTime> goes_on_at_;
  std::uint32_t failed_commits_ = 0;   ///< In a row.
  std::vector<Record> restored_from_;  ///< By a node that has not started yet, for the recorder.
  std::vector<Contact> contacts_;      ///< Of the node that was dropped: whom it knew is no promise.
  std::uint64_t events_handled_ = 0;
  std::uint64_t commits_ = 0;
};

}  // namespace abacus
