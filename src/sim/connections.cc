// The least recently used connection makes room for a new one.
#include "sim/connections.h"

#include <algorithm>

namespace abacus::sim {

bool Connections::holds(NodeIndex peer, std::uint64_t life, MonoTime now) const {
  auto found = peers_.find(peer);
  return found != peers_.end() && found->second.life == life && now - found->second.used_at <= kIdle;
}

std::optional<NodeIndex> Connections::use(NodeIndex peer, std::uint64_t life, MonoTime now) {
  std::optional<NodeIndex> closed;
  if (peers_.size() >= kMax && !peers_.contains(peer)) {
    auto oldest = std::min_element(peers_.begin(), peers_.end(),
                                   [](const auto& a, const auto& b) { return a.second.used_at < b.second.used_at; });
    closed = oldest->first;
    peers_.erase(oldest);
  }
  peers_.insert_or_assign(peer, Connection{life, now});
  return closed;
}

}  // namespace abacus::sim
