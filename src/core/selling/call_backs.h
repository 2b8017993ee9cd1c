// Buyers that asked when there was no room, and hear of it when there is: the last few, oldest first.
#pragma once

#include <cstddef>
#include <deque>

#include "base/time.h"
#include "protocol/message.h"

namespace abacus {

struct Asker {
  Contact buyer;
  TraceContext trace;
  Rfq rfq;
  MonoTime asked_at;
};

class CallBacks {
 public:
  CallBacks(std::size_t size, Duration kept_for) : size_(size), kept_for_(kept_for) {}

  /// A later question of the same negotiation replaces the earlier one, but keeps its place in the queue.
  void remember(Asker asker);
  /// The buyer got what it wanted, here.
  void forget(const NodeId& buyer, NegotiationId negotiation);
  void expire(MonoTime now);

  /// Oldest first.
  const std::deque<Asker>& askers() const { return askers_; }

 private:
  std::deque<Asker>::iterator find(const NodeId& buyer, NegotiationId negotiation);

  std::size_t size_;
  Duration kept_for_;
  std::deque<Asker> askers_;
};

}  // namespace abacus
