// The seam between a node and the world around it: effects and commits go out, events and the time come in.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/driver/recorder.h"
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/node_config.h"

namespace abacus {

class Node;

/// What an inhabitant may ask of its world. All calls come from the inhabitant's thread. What a world may lose, delay,
/// repeat and reorder stands in docs/internals/ports.md; tests/conformance holds every world to it.
class World {
 public:
  virtual ~World() = default;

  /// Does it, or starts doing it; what comes of it is posted to the inhabitant later, never from within this call.
  virtual void carry_out(Effect effect) = 0;

  /// Makes the changes durable, all or none, in order, and then calls Inhabitant::committed (not from within this
  /// call). There are never two commits out at once, and after a failed one `load` comes before the next.
  virtual void commit(std::vector<JournalChange> changes) = 0;

  /// All durable records, by kind and then by key. Errors: `corrupt`, `unsupported`.
  virtual Result<std::vector<Record>> load() = 0;
};

/// Who lives in a world: the driver of the shipped node, or what a test puts in its place. One thread.
class Inhabitant {
 public:
  virtual ~Inhabitant() = default;

  /// Once, before anything else. Errors: the inhabitant is then unusable.
  virtual Status start(Now now) = 0;

  /// Takes note of an event; it is handled by `run`.
  virtual void post(Event event) = 0;

  /// Handles what was posted, or a part of it: then true.
  virtual bool run(Now now) = 0;

  /// The outcome of the commit that is out. Errors: the inhabitant is then unusable.
  virtual Status committed(const Status& outcome, Now now) = 0;

  /// When `run` should be called again if nothing is posted; it may come later, or earlier for nothing.
  virtual std::optional<MonoTime> next_wake() const = 0;

  /// True while nothing is handled, because the last commit failed.
  virtual bool pausing() const { return false; }

  /// Null if there is none to be looked into.
  virtual const Node* node() const { return nullptr; }
};

/// Makes who lives in `world`, which outlives it, as does `recorder` (null: none).
using InhabitantFactory =
    std::function<std::unique_ptr<Inhabitant>(NodeConfig config, World& world, Recorder* recorder)>;

}  // namespace abacus
