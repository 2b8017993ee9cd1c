// The clocks as core sees them: the time that comes with every call, and Inhabitant::next_wake.
//
// Monotonic time never goes back, from one life to the next either while the machine has power. Wall time may jump, and
// differs from machine to machine. A machine is woken when the time that next_wake named has come, as monotonic time
// has it and not before, however late; what is due already, at once. Steps of the wall clock change nothing of that.
// That a turn comes for another reason, with nothing posted, is allowed.
#pragma once

#include <memory>

#include "machines.h"

namespace abacus::conformance {

/// One machine's clocks.
class ClockPort {
 public:
  explicit ClockPort(std::unique_ptr<Machines> machines) : machines_(std::move(machines)) {}

  Machines& machines() { return *machines_; }
  Notebook& notebook() { return machines_->at(0); }
  Now now() { return notebook().turns().back(); }

  /// Asks to be woken and sees to it that the world knows. Returns how many turns there were until then.
  std::size_t arm(MonoTime at) {
    notebook().wake_at(at);
    std::size_t before = notebook().turns().size();
    EXPECT_TRUE(machines_->until([&] { return notebook().turns().size() > before; })) << "no turn at all";
    return notebook().turns().size();
  }

  /// The first turn after so many.
  std::optional<Now> turn_after(std::size_t turns) {
    if (!machines_->until([&] { return notebook().turns().size() > turns; })) return std::nullopt;
    return notebook().turns()[turns];
  }

 private:
  std::unique_ptr<Machines> machines_;
};

}  // namespace abacus::conformance
