// One turn queued at a time, one timer for the inhabitant's next wake.
#include "runtime/agent/loop_pump.h"

#include <boost/asio/post.hpp>
#include <chrono>

namespace abacus {

Now read_clocks() {
  using std::chrono::nanoseconds;
  auto ns = [](auto time) { return std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count(); };
  return {MonoTime{ns(std::chrono::steady_clock::now())}, WallTime{ns(std::chrono::system_clock::now())}};
}

void LoopPump::post(Event event) {
  inhabitant_.post(std::move(event));
  nudge();
}

void LoopPump::nudge() {
  if (turn_queued_ || stopped_) return;
  turn_queued_ = true;
  boost::asio::post(io_, [this] { turn(); });
}

void LoopPump::stop() {
  stopped_ = true;
  timer_.cancel();
}

void LoopPump::turn() {
  turn_queued_ = false;
  if (stopped_) return;
  if (inhabitant_.run(read_clocks())) nudge();
  arm();
}

void LoopPump::arm() {
  std::optional<MonoTime> wake = inhabitant_.next_wake();
  if (!wake || wake == armed_for_) return;
  armed_for_ = wake;
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(wake->ns)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopped_) return;
    armed_for_.reset();
    turn();
  });
}

}  // namespace abacus
