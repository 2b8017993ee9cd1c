// A simulated node's life, crashes included, recorded and replayed: the same decisions.
#include <gtest/gtest.h>

#include "core/recording/entry_writer.h"
#include "core/recording/frame.h"
#include "core/recording/replayer.h"
#include "sim/workloads/random_market.h"

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

TEST(SimulatedReplay, GivesTheSameDigestsThroughCrashesAndFaults) {
  std::uint64_t events = 0, restarts = 0, placements = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RandomMarketOptions options;
    options.nodes = 12;
    options.jobs = 20;
    std::vector<std::unique_ptr<Tape>> tapes;
    RandomMarket market(seed, options);
    for (NodeIndex i = 0; i < options.nodes; ++i) {
      market.simulation().record(i, tapes.emplace_back(std::make_unique<Tape>())->writer);
    }
    EXPECT_TRUE(market.run(minutes(60)));
    for (NodeIndex i = 0; i < options.nodes; ++i) {
      Replayed replayed = replay(tapes[i]->file);
      EXPECT_TRUE(replayed.same) << "seed " << seed << ", node " << i;
      if (const Node* node = market.simulation().node(i)) {
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
  RandomMarketOptions options;
  options.nodes = 8;
  options.jobs = 10;
  Tape tape;
  RandomMarket recorded(3, options), plain(3, options);
  recorded.simulation().record(0, tape.writer);
  recorded.run(minutes(60));
  plain.run(minutes(60));
  EXPECT_EQ(recorded.simulation().state_hash(), plain.simulation().state_hash());
}

}  // namespace
}  // namespace abacus::sim
