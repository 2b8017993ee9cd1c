// Gathering the effects of many events.
#include "core/model/effects.h"

#include <algorithm>
#include <iterator>

#include "protocol/limits.h"

namespace abacus {

template <class M>
bool Effects::joins_message(Send& send) {
  auto* message = std::get_if<M>(&send.message);
  if (message == nullptr) return false;
  std::size_t& place = waiting_[{message->lease, send.message.index()}];
  auto* there = place < held.size() ? std::get_if<Send>(&held[place]) : nullptr;
  auto* waiting = there == nullptr ? nullptr : std::get_if<M>(&there->message);
  bool fits = waiting != nullptr && waiting->lease == message->lease && there->to == send.to &&
              waiting->attempts.size() + message->attempts.size() <= limits::kAttemptsPerMessage;
  if (fits) {
    std::copy(message->attempts.begin(), message->attempts.end(), std::back_inserter(waiting->attempts));
  } else {
    place = held.size();
  }
  return fits;
}

bool Effects::joins(Effect& effect) {
  auto* send = std::get_if<Send>(&effect);
  return send != nullptr && (joins_message<DoneAck>(*send) || joins_message<Start>(*send));
}

void Effects::append(Effects& later) {
  if (held.empty()) waiting_.clear();  // Whoever took what was held took the places with it; leases are many.
  std::move(later.changes.begin(), later.changes.end(), std::back_inserter(changes));
  std::move(later.now.begin(), later.now.end(), std::back_inserter(now));
  for (Effect& effect : later.held) {
    if (!joins(effect)) held.push_back(std::move(effect));
  }
  later.changes.clear();
  later.now.clear();
  later.held.clear();
}

}  // namespace abacus
