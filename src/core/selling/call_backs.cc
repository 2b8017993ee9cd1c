// A short queue; searched from end to end, because it holds sixteen.
#include "core/selling/call_backs.h"

#include <algorithm>

namespace abacus {

std::deque<Asker>::iterator CallBacks::find(const NodeId& buyer, NegotiationId negotiation) {
  return std::find_if(askers_.begin(), askers_.end(), [&](const Asker& asker) {
    return asker.rfq.negotiation == negotiation && asker.buyer.node == buyer;
  });
}

void CallBacks::remember(Asker asker) {
  if (size_ == 0) return;
  if (auto found = find(asker.buyer.node, asker.rfq.negotiation); found != askers_.end()) {
    *found = std::move(asker);
    return;
  }
  if (askers_.size() >= size_) askers_.pop_front();
  askers_.push_back(std::move(asker));
}

void CallBacks::forget(const NodeId& buyer, NegotiationId negotiation) {
  if (auto found = find(buyer, negotiation); found != askers_.end()) askers_.erase(found);
}

void CallBacks::expire(MonoTime now) {
  std::erase_if(askers_, [&](const Asker& asker) { return now - asker.asked_at > kept_for_; });
}

}  // namespace abacus
