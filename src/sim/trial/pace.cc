// Counts launches as they leave the nodes.
#include "sim/trial/pace.h"

#include <algorithm>
#include <utility>

#include "base/int128.h"
#include "sim/simulation.h"

namespace abacus::sim {

void PaceMeter::on_effect(const Simulation&, NodeIndex, const Effect& effect) {
  if (std::holds_alternative<Launch>(effect)) ++launches_;
}

void PaceMeter::on_second(const Simulation& simulation) {
  PaceSecond second{std::exchange(launches_, 0), 0};
  for (NodeIndex i = 0; i < simulation.size(); ++i) {
    if (simulation.node(i) != nullptr) second.cpu_milli_up += simulation.plan().nodes[i].capacity.cpu_milli;
  }
  seconds_.push_back(second);
}

std::uint64_t pace_in(const std::vector<PaceSecond>& seconds, Span span) {
  Int128 launches = 0, cpu_milli_s = 0;
  for (auto i = std::max<std::int64_t>(span.from_s, 0); i < std::min<std::int64_t>(span.to_s, std::ssize(seconds));
       ++i) {
    launches += seconds[static_cast<std::size_t>(i)].launches;
    cpu_milli_s += seconds[static_cast<std::size_t>(i)].cpu_milli_up;
  }
  constexpr std::uint64_t kPerThousandCpus = 1'000'000, kMicro = 1'000'000;
  return cpu_milli_s == 0 ? 0 : static_cast<std::uint64_t>(launches * kPerThousandCpus * kMicro / cpu_milli_s);
}

}  // namespace abacus::sim
