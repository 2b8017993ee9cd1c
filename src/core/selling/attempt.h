// One attempt at a seller, from its arrival to the acknowledgement of its end.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "core/model/records.h"

namespace abacus {

/// Waits for its turn. Nothing is recorded: a crash forgets it, and the buyer's beat finds that out.
struct Queued {};

/// Its inputs are on their way.
struct Staging {
  MonoTime since;
};

/// Its inputs are in place; waits for a slot.
struct Ready {
  Duration staged_for;
};

/// What an attempt in a slot has.
struct Placement {
  RunRecord record;
  std::uint32_t slot = 0;           ///< Meaningless where slots have no devices to tell them apart.
  std::optional<EndKind> stopping;  ///< Interrupted, and what its end is to be called.
};

/// Recorded, and to be launched once that is durable.
struct Intended {
  Placement placement;
};

/// Its process runs.
struct Running {
  Placement placement;
};

/// Its end is recorded and repeated until the buyer has acknowledged it; then the attempt is forgotten.
struct Ended {
  RunRecord record;
};

using Attempt = std::variant<Queued, Staging, Ready, Intended, Running, Ended>;

/// The slot it occupies, if any. Null otherwise.
inline Placement* placement_of(Attempt& attempt) {
  if (auto* intended = std::get_if<Intended>(&attempt)) return &intended->placement;
  if (auto* running = std::get_if<Running>(&attempt)) return &running->placement;
  return nullptr;
}

}  // namespace abacus
