// What is worth telling on the next pings: the latest rumour about each node, each told a few times.
#pragma once

#include <cstdint>
#include <vector>

#include "core/overlay/overlay_config.h"
#include "protocol/overlay_messages.h"

namespace abacus {

class Rumours {
 public:
  explicit Rumours(const DetectorConfig& config) : config_(config) {}

  /// Replaces what was told of the node so far. When full, the one told most often gives way.
  void add(const Rumour& rumour);

  /// Those told least so far, each counted as told once more; what was told often enough is forgotten.
  std::vector<Rumour> take();

 private:
  struct Row {
    Rumour rumour;
    std::uint32_t sends = 0;
  };
  DetectorConfig config_;
  std::vector<Row> rows_;
};

}  // namespace abacus
