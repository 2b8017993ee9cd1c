// What a checker gets to see of a simulation. Checkers look on; they never change what happens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/effects.h"
#include "core/model/event.h"
#include "sim/faults.h"

namespace abacus::sim {

class Simulation;

/// One violated invariant, in one sentence.
struct Violation {
  std::string checker;
  MonoTime at;
  std::string what;
};

/// Interface; one invariant an implementation. Calls come in the order of events.
class Checker {
 public:
  virtual ~Checker() = default;
  virtual std::string name() const = 0;

  /// `node` released this effect (held effects: after their commit).
  virtual void on_effect(const Simulation&, NodeIndex, const Effect&) {}
  /// `node` is about to handle this event.
  virtual void on_event(const Simulation&, NodeIndex, const Event&) {}
  /// The agent of `node` stopped without warning; its processes run on unless `power_loss`.
  virtual void on_crash(const Simulation&, NodeIndex, bool) {}
  /// A commit of `node` failed: it went back to what is durable, as after a crash.
  virtual void on_rollback(const Simulation&, NodeIndex) {}
  /// Another second of virtual time has passed.
  virtual void on_second(const Simulation&) {}
  /// The simulation is over and had time to settle after the last fault.
  virtual void at_end(const Simulation&) {}

  const std::vector<Violation>& violations() const { return violations_; }

 protected:
  void violated(const Simulation& simulation, std::string what);

 private:
  std::vector<Violation> violations_;
};

}  // namespace abacus::sim
