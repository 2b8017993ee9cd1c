// With whom a simulated node holds a connection, as a real transport would: bounded, and closed when idle.
#pragma once

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "sim/faults.h"

namespace abacus::sim {

/// Of one node in one life. A connection ends with the life of either side; `life` is the peer's.
class Connections {
 public:
  static constexpr std::size_t kMax = 256;
  static constexpr Duration kIdle = seconds(60);

  struct Connection {
    std::uint64_t life = 0;
    MonoTime used_at;
  };

  bool holds(NodeIndex peer, std::uint64_t life, MonoTime now) const;
  /// Opens one if need be. Returns the peer whose connection had to make room, if any.
  std::optional<NodeIndex> use(NodeIndex peer, std::uint64_t life, MonoTime now);
  void close(NodeIndex peer) { peers_.erase(peer); }
  void close_all() { peers_.clear(); }

  const boost::container::flat_map<NodeIndex, Connection>& all() const { return peers_; }

 private:
  boost::container::flat_map<NodeIndex, Connection> peers_;
};

}  // namespace abacus::sim
