// A launcher of one machine for each test, in each world.
#pragma once

#include "launcher_port.h"

namespace abacus::conformance {

class LauncherConformance : public ::testing::TestWithParam<Realm> {
 protected:
  const AdoptedAttempt* find(const RunsAdopted& adopted, std::uint32_t index) {
    for (const AdoptedLease& lease : adopted.leases) {
      for (const AdoptedAttempt& found : lease.attempts) {
        if (found.attempt == LauncherPort::attempt(index)) return &found;
      }
    }
    return nullptr;
  }

  void restart_after(const std::function<void()>& meanwhile) {
    machines.stop(0);
    meanwhile();
    machines.start(0);
  }

  LauncherPort launcher{GetParam().make(1)};
  Machines& machines = launcher.machines();
};

}  // namespace abacus::conformance
