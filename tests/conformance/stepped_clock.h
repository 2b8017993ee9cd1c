// A wall clock of this process's own, which a test can step; its monotonic clock stays that of the machine.
#pragma once

#include "base/time.h"

namespace abacus::conformance {

/// From now on the wall clock is so much further ahead. Any thread.
void step_wall_clock(Duration by);

}  // namespace abacus::conformance
