// Takes a node through a recording, and compares what it returns with what was returned then.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/node.h"
#include "core/recording/effects_digest.h"
#include "core/recording/recording_reader.h"

namespace abacus {

/// What one entry led to.
struct ReplayStep {
  std::uint64_t entry = 0;
  Now now;
  std::optional<Event> event;  ///< None: a node was made and started.
  Effects effects;
};

/// The first entry at which this core did something else than the one that recorded.
struct ReplayDifference {
  std::uint64_t entry = 0;
  WallTime at;
  std::string version;  ///< Of the program that recorded.
};

/// Deterministic. One thread.
class Replayer {
 public:
  /// The step that an entry leads to; none for those of a node that is still being made. Errors: `corrupt` for entries
  /// that cannot follow each other.
  Result<std::optional<ReplayStep>> apply(PlacedEntry entry);

  /// Null before the first node is made, and while another is.
  const Node* node() const { return node_.get(); }
  Now now() const { return now_; }
  std::uint64_t nodes() const { return nodes_; }
  std::uint64_t events() const { return events_; }
  /// Of the latest node's effects so far, made here.
  std::uint64_t digest() const { return digest_.value(); }
  const std::optional<ReplayDifference>& difference() const { return difference_; }
  /// How many records of a node that is being made are still to come.
  std::uint64_t records_missing() const { return making_ ? making_->records - records_.size() : 0; }
  /// Of the node that was made last.
  const std::string& version() const { return version_; }

 private:
  Result<std::optional<ReplayStep>> take(std::uint64_t number, NodeMade made);
  Result<std::optional<ReplayStep>> take(std::uint64_t number, RecordRestored restored);
  Result<std::optional<ReplayStep>> take(std::uint64_t number, EventHandled handled);
  std::optional<ReplayStep> start_if_complete(std::uint64_t number);
  void compare(std::uint64_t number, const Effects& effects, std::uint64_t recorded);

  std::optional<NodeMade> making_;
  std::vector<Record> records_;
  std::unique_ptr<Node> node_;
  Now now_;
  EffectsDigest digest_;
  std::string version_;
  std::uint64_t nodes_ = 0;
  std::uint64_t events_ = 0;
  std::optional<ReplayDifference> difference_;
};

}  // namespace abacus
