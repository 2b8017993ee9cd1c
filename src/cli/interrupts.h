// Ctrl-C while a command waits: counted instead of ending the program.
#pragma once

#include <csignal>

#include "base/time.h"

namespace abacus {

/// Blocks SIGINT and SIGTERM in this thread for as long as it lives, and counts them.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Sleeps for `time`, or until one arrives; returns how many arrived since the last call.
  int sleep(Duration time);

 private:
  sigset_t before_;
  int fd_ = -1;
};

}  // namespace abacus
