// A signalfd, polled.
#include "cli/interrupts.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

namespace abacus {

Interrupts::Interrupts() {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ours, &before_);
  fd_ = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
}

Interrupts::~Interrupts() {
  sleep({});  // what is pending was meant for the command, not for what follows
  close(fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Interrupts::sleep(Duration time) {
  pollfd waiting = {fd_, POLLIN, 0};
  poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(time.ms(), 0)));
  int count = 0;
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) ++count;
  return count;
}

}  // namespace abacus
