// Draws whether a rare path is taken, and counts how often it was.
#pragma once

#include <map>
#include <vector>

#include "base/prng.h"
#include "sim/faults.h"

namespace abacus::sim {

/// Owned by a simulation. Points without a chance never strike and draw nothing.
class FaultPoints {
 public:
  FaultPoints(const std::vector<FaultChance>& chances, Prng prng) : prng_(prng) {
    for (const FaultChance& chance : chances) permille_[chance.point] = chance.permille;
  }

  /// To be asked at the place itself, each time that it is passed.
  bool strikes(FaultPoint point) {
    auto chance = permille_.find(point);
    if (chance == permille_.end() || !prng_.chance(chance->second, 1000)) return false;
    ++struck_[point];
    return true;
  }

  /// From now on nothing strikes.
  void calm() { permille_.clear(); }

  const std::map<FaultPoint, std::uint64_t>& struck() const { return struck_; }

 private:
  Prng prng_;
  std::map<FaultPoint, std::uint32_t> permille_;
  std::map<FaultPoint, std::uint64_t> struck_;
};

}  // namespace abacus::sim
