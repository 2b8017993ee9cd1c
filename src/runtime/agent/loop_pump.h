// Runs an inhabitant on the loop's thread: once for everything posted since the last turn, and when it asks.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/driver/world.h"

namespace abacus {

/// Reads both clocks. The only clock reads that reach core.
Now read_clocks();

/// Everything on the loop's thread. Io context and inhabitant outlive it.
class LoopPump {
 public:
  LoopPump(boost::asio::io_context& io, Inhabitant& inhabitant) : io_(io), inhabitant_(inhabitant), timer_(io) {}

  void post(Event event);
  /// Lets the inhabitant run in this turn of the loop or the next.
  void nudge();
  /// No more turns.
  void stop();

 private:
  void turn();
  void arm();

  boost::asio::io_context& io_;
  Inhabitant& inhabitant_;
  boost::asio::steady_timer timer_;
  std::optional<MonoTime> armed_for_;
  bool turn_queued_ = false;
  bool stopped_ = false;
};

}  // namespace abacus
