// A simulated node's life, crashes included, recorded and replayed: the same decisions.
#include <gtest/gtest.h>

#include "core/recording/entry_writer.h"
#include "core/recording/frame.h"
#include "core/recording/replayer.h"
#include "sim/simulation.h"
#include "sim/workloads/random_plan.h"

namespace abacus::sim {
namespace {

/// A recording in memory.
struct Tape {
  Bytes file = recording_header("test");
  EntryWriter writer{"test", 0, [this](BytesView frames) { file.insert(file.end(), frames.begin(), frames.end()); }};
};

struct Replayed {
  std::uint64_t nodes = 0;
  std::uint64_t events = 0;
  bool same = true;
  Counters counters;
};

Replayed replay(const Bytes& file) {
  RecordingReader reader = RecordingReader::open(file).value();
  Replayer replayer;
  while (auto entry = reader.next().value()) EXPECT_TRUE(replayer.apply(std::move(*entry)).has_value());
  EXPECT_FALSE(reader.torn());
  return {replayer.nodes(), replayer.events(), !replayer.difference(), replayer.node()->counters()};
}

Plan small_market(std::uint64_t seed) {
  RandomPlanOptions options;
  options.nodes = 12;
  options.jobs = 20;
  return random_plan(seed, options);
}

TEST(SimulatedReplay, GivesTheSameDigestsThroughCrashesAndFaults) {
  std::uint64_t events = 0, restarts = 0, placements = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<std::unique_ptr<Tape>> tapes;
    Simulation simulation(small_market(seed));
    for (NodeIndex i = 0; i < simulation.size(); ++i) {
      simulation.record(i, tapes.emplace_back(std::make_unique<Tape>())->writer);
    }
    simulation.run();
    EXPECT_TRUE(simulation.all_ended());
    for (NodeIndex i = 0; i < simulation.size(); ++i) {
      Replayed replayed = replay(tapes[i]->file);
      EXPECT_TRUE(replayed.same) << "seed " << seed << ", node " << i;
      if (const Node* node = simulation.node(i)) {
        EXPECT_EQ(encode(replayed.counters), encode(node->counters()));
      }
      events += replayed.events;
      restarts += replayed.nodes - 1;
      placements += replayed.counters.placements;
    }
  }
  EXPECT_GT(events, 50'000u);
  EXPECT_GT(restarts, 10u);
  EXPECT_GT(placements, 100u);
}

TEST(SimulatedReplay, RecordingChangesNothing) {
  Tape tape;
  Simulation recorded(small_market(3)), plain(small_market(3));
  recorded.record(0, tape.writer);
  recorded.run();
  plain.run();
  EXPECT_EQ(recorded.state_hash(), plain.state_hash());
}

}  // namespace
}  // namespace abacus::sim
