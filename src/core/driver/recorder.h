// What a driver tells of its node, so that another node can be taken through the same.
#pragma once

#include <vector>

#include "base/time.h"
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/model/records.h"
#include "core/node_config.h"

namespace abacus {

/// Hears everything that goes into a node, with what the node returned. All calls come from the driver's thread, in the
/// order of what happened; nothing of it may be kept by reference. A recorder looks on; it never changes what happens.
class Recorder {
 public:
  virtual ~Recorder() = default;

  /// A node was made of these and started: at the start of the driver, and again after each failed commit.
  virtual void started(const NodeConfig& config, const std::vector<Record>& records, Now now,
                       const Effects& effects) = 0;

  /// The node handled an event; `effects` are those of this event alone.
  virtual void handled(const Event& event, Now now, const Effects& effects) = 0;
};

}  // namespace abacus
