// Persist, then promise: carries events into a node and its effects out of it. The same code drives a real agent and a
// simulated one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/driver/recorder.h"
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/node.h"

namespace abacus {

/// What a driver needs of its world. All calls come from the driver's thread.
class World {
 public:
  virtual ~World() = default;

  /// Does it, or starts doing it; what comes of it is posted to the driver later, never from within this call.
  /// A world may lose, delay, repeat and reorder messages; it may not corrupt them.
  virtual void carry_out(Effect effect) = 0;

  /// Makes the changes durable, all or none, in order, and then calls Driver::committed (not from within this call).
  /// The driver never has two commits out at once.
  virtual void commit(std::vector<JournalChange> changes) = 0;

  /// All durable records in key order. Errors: `corrupt`, `unsupported`.
  virtual Result<std::vector<Record>> load() = 0;
};

/// Batches events, gathers their journal changes into one transaction, and releases what depended on them when it is
/// durable. One thread; `world` and `recorder` (null: none) outlive the driver.
class Driver {
 public:
  Driver(NodeConfig config, World& world, Recorder* recorder = nullptr)
      : config_(std::move(config)), world_(world), recorder_(recorder) {}

  /// Builds the node from the journal. Errors: those of World::load; the driver is then unusable.
  Status start(Now now);

  /// Queues an event for the next `run`; drops it after a failed commit, until the node goes on.
  void post(Event event) {
    if (!goes_on_at_) inbox_.push_back(std::move(event));
  }

  /// Handles up to `events_max` queued events (a due WakeUp first) and what they loop back to the node itself, releases
  /// soft effects, starts a commit if one is due. Returns true if events are left.
  bool run(Now now, std::size_t events_max = 256);

  /// The outcome of the commit that is out. After a failure the node is dropped and rebuilt from the journal: nothing
  /// that was not durable was promised to anybody. It shows itself at once and goes on after a pause, which doubles
  /// from failure to failure: a full disk does not fill up the network too. Errors: those of `start`.
  Status committed(const Status& outcome, Now now);

  /// When `run` should be called again if nothing is posted.
  std::optional<MonoTime> next_wake() const;

  /// True while nothing is handled, because the last commit failed.
  bool pausing() const { return goes_on_at_.has_value(); }

  /// Null before start and after a failed restart.
  const Node* node() const { return node_.get(); }
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
