// The launcher as core sees it: the effects about leases and attempts, and what comes back of them.
//
// Launch in an open lease comes back as one ProcessStarted and then one ProcessEnded, or as ProcessEnded alone. An
// attempt that is known runs once however often it is launched; its state is told anew each time. How it ended is told
// with its kind: the time limit counts before an interruption, that before how the process itself ended; exit code or
// signal is what became of the process (exit code -1: none). More attempts at once than the lease has slots, and
// commands that cannot be started, end as failed_to_start; attempts in a lease that is not open or broke end as lost.
// An interruption is SIGTERM and, after the grace, SIGKILL; of what has ended or is unknown it does nothing, and
// repeated, the nearer end counts. CloseLease ends what runs in it without a word about it, but for words that are on
// their way. When a lease's shim dies, LeaseProcessLost says so and what ran in it is gone. ForgetAttempt removes what
// has ended, and does nothing while it runs.
//
// The agent's death changes nothing for what runs. AdoptRuns is answered by one RunsAdopted, which lists every lease
// that was not closed with every attempt not forgotten; of what had ended before it, nothing else is told; ends after
// it are told as ever. LeaseProcessLost follows it for each lease that broke meanwhile.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "machines.h"

namespace abacus::conformance {

/// One machine's launcher.
class LauncherPort {
 public:
  explicit LauncherPort(std::unique_ptr<Machines> machines) : machines_(std::move(machines)) {}

  Machines& machines() { return *machines_; }
  Notebook& notebook() { return machines_->at(0); }

  LeaseId open(std::uint32_t slots = 4) {
    // No other process's: what runs in a lease is known by its name.
    LeaseId lease;
    lease.bytes = {0xc0, ++leases_, static_cast<std::uint8_t>(::getpid()), static_cast<std::uint8_t>(::getpid() >> 8),
                   static_cast<std::uint8_t>(::getpid() >> 16)};
    notebook().ask(OpenLease{lease, machines_->contact(0).node, slots, notebook().turns().back().wall + minutes(30)});
    return lease;
  }

  static AttemptId attempt(std::uint32_t index) { return {{{{1, 2, 3}}, index}, 1}; }

  Launch launch_of(const LeaseId& lease, std::uint32_t index, const Deed& deed) {
    Launch launch;
    launch.lease = lease;
    launch.attempt = attempt(index);
    launch.buyer = machines_->contact(0).node;
    launch.work.command = machines_->command(deed);
    launch.until = notebook().turns().back().wall + minutes(30);
    return launch;
  }
  void launch(const LeaseId& lease, std::uint32_t index, const Deed& deed) {
    notebook().ask(launch_of(lease, index, deed));
  }
  void interrupt(const LeaseId& lease, std::uint32_t index, Duration grace) {
    notebook().ask(InterruptProcess{lease, attempt(index), grace});
  }
  void forget(const LeaseId& lease, std::uint32_t index) { notebook().ask(ForgetAttempt{lease, attempt(index)}); }

  std::size_t starts(std::uint32_t index) { return of<ProcessStarted>(index).size(); }
  bool starts_once(std::uint32_t index) {
    return machines_->until([&] { return starts(index) > 0; }) && starts(index) == 1;
  }
  std::vector<ProcessEnded> ends(std::uint32_t index) { return of<ProcessEnded>(index); }

  /// Waits for the end of an attempt, and for what should not follow it.
  TaskEnd end(std::uint32_t index) {
    EXPECT_TRUE(machines_->until([&] { return !ends(index).empty(); })) << "attempt " << index << " does not end";
    machines_->a_while();
    EXPECT_EQ(ends(index).size(), 1u);
    return ends(index).empty() ? TaskEnd{} : ends(index).front().end;
  }

  RunsAdopted adopt() {
    std::size_t before = notebook().heard<RunsAdopted>().size();
    notebook().ask(AdoptRuns{});
    EXPECT_TRUE(machines_->until([&] { return notebook().heard<RunsAdopted>().size() > before; }));
    return notebook().heard<RunsAdopted>().size() > before ? notebook().heard<RunsAdopted>().back() : RunsAdopted{};
  }

 private:
  template <class E>
  std::vector<E> of(std::uint32_t index) {
    std::vector<E> found = notebook().heard<E>();
    std::erase_if(found, [&](const E& event) { return event.attempt != attempt(index); });
    return found;
  }

  std::unique_ptr<Machines> machines_;
  std::uint8_t leases_ = 0;
};

}  // namespace abacus::conformance
