// A recording played back makes the same decisions; where it does not, the first entry that differs is named.
#include "core/recording/replayer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/driver/driver.h"
#include "core/recording/entry_writer.h"
#include "core/recording/recording_fixture.h"

namespace abacus {
namespace {

using ::testing::HasSubstr;

/// Keeps what is committed; nothing else of the world is needed.
class SmallWorld final : public World {
 public:
  void carry_out(Effect) override {}
  void commit(std::vector<JournalChange> changes) override {
    for (JournalChange& change : changes) {
      rows.erase({change.kind, change.key});
      if (change.value) rows[{change.kind, change.key}] = *change.value;
    }
    commit_out = true;
  }
  Result<std::vector<Record>> load() override {
    std::vector<Record> records;
    for (const auto& [name, value] : rows) records.push_back(decode_record(name.first, value).value());
    return records;
  }

  std::map<std::pair<std::uint16_t, Bytes>, Bytes> rows;
  bool commit_out = false;
};

NodeConfig lone_node() {
  NodeConfig config;
  config.self.node.bytes[0] = 1;
  config.self.endpoint.port = 1;
  config.region = "here";
  config.capacity.cpu_milli = 4'000;
  config.capacity.memory_bytes = config.capacity.disk_bytes = 1ull << 30;
  config.seed = 42;
  return config;
}

Now at(Duration after) { return {MonoTime{1'000'000'000} + after, WallTime{1'800'000'000'000'000'000} + after}; }

JobSpec some_job() {
  JobSpec spec;
  spec.work.command = {"true"};
  return spec;
}

/// Two lives of a node that sells a job's task to itself, the second after a failed commit.
class ReplayerTest : public ::testing::Test {
 protected:
  ReplayerTest() {
    Driver driver(lone_node(), world_, &writer_);
    EXPECT_TRUE(driver.start(at({})).has_value());
    Offer offer;
    offer.contact = lone_node().self;
    offer.region = "here";
    offer.capacity = lone_node().capacity;
    offer.sequence = driver.node()->epoch() << 32 | 1;
    offer.issued_at = at({}).wall;
    driver.post(RunsAdopted{});
    driver.post(OfferSigned{make_signed_offer(encode(offer), {}).value()});
    driver.post(SubmitJob{7, some_job()});
    for (int i = 0; i < 40; ++i) {
      live(driver, milliseconds(50 * i), Status{});
      if (i == 20) driver.post(SubmitJob{8, some_job()});
      if (i == 30) {
        driver.post(Drain{9, true});
        driver.run(at(milliseconds(50 * i + 1)));
        live(driver, milliseconds(50 * i + 2), fail(ErrorCode::exhausted, "disk full"));
      }
    }
    jobs_ = driver.node()->buying().jobs(at(seconds(3)), 10).size();
  }

  /// `outcome` is that of the first commit; later ones succeed.
  void live(Driver& driver, Duration after, Status outcome) {
    driver.run(at(after));
    while (std::exchange(world_.commit_out, false)) {
      ASSERT_TRUE(driver.committed(std::exchange(outcome, Status{}), at(after)).has_value());
      driver.run(at(after));
    }
  }

  /// Replays all; the error that ended it, if any.
  Status replay(BytesView file) {
    TRY(RecordingReader reader, RecordingReader::open(file));
    while (true) {
      TRY(std::optional<PlacedEntry> entry, reader.next());
      if (!entry) return {};
      TRY_STATUS(replayer_.apply(std::move(*entry)).map([](const auto&) {}));
    }
  }

  SmallWorld world_;
  Bytes file_ = recording_header("1.2.3");
  EntryWriter writer_{"1.2.3", 0,
                      [this](BytesView frames) { file_.insert(file_.end(), frames.begin(), frames.end()); }};
  Replayer replayer_;
  std::size_t jobs_ = 0;
};

TEST_F(ReplayerTest, MakesTheSameDecisionsAgain) {
  ASSERT_TRUE(replay(file_).has_value());
  EXPECT_EQ(replayer_.nodes(), 2u);
  EXPECT_GT(replayer_.events(), 10u);
  EXPECT_FALSE(replayer_.difference());
  EXPECT_EQ(replayer_.version(), "1.2.3");
  ASSERT_NE(replayer_.node(), nullptr);
  EXPECT_EQ(jobs_, 2u);
  EXPECT_EQ(replayer_.node()->buying().jobs(at(seconds(3)), 10).size(), jobs_);
}

TEST_F(ReplayerTest, NamesTheFirstEntryThatDiffers) {
  // The same file, but an event in the middle told something else.
  Bytes changed = recording_header("1.2.3");
  EntryFrameReader frames = EntryFrameReader::open(file_).value();
  std::uint64_t changed_entry = 0;
  while (std::optional<BytesView> content = frames.next().value()) {
    Entry entry = decode_entry(*content).value();
    auto* handled = std::get_if<EventHandled>(&entry);
    auto* submitted = handled == nullptr ? nullptr : std::get_if<SubmitJob>(&handled->event);
    if (submitted != nullptr && submitted->request == 8) {
      submitted->spec.name = "another";
      changed_entry = frames.entry();
    }
    append_entry_frame(changed, encode_entry(entry));
  }
  ASSERT_GT(changed_entry, 0u);
  ASSERT_TRUE(replay(changed).has_value());
  ASSERT_TRUE(replayer_.difference());
  EXPECT_EQ(replayer_.difference()->entry, changed_entry);
  EXPECT_EQ(replayer_.difference()->version, "1.2.3");
}

TEST_F(ReplayerTest, TellsEachStepWithItsEffects) {
  RecordingReader reader = RecordingReader::open(file_).value();
  std::size_t starts = 0, submissions = 0;
  while (auto entry = reader.next().value()) {
    std::uint64_t number = entry->number;
    auto step = replayer_.apply(std::move(*entry)).value();
    if (!step) continue;
    EXPECT_EQ(step->entry, number);
    if (!step->event) {
      ++starts;
      EXPECT_FALSE(step->effects.changes.empty());
    } else if (std::holds_alternative<SubmitJob>(*step->event)) {
      ++submissions;
      EXPECT_FALSE(step->effects.changes.empty());
      EXPECT_FALSE(step->effects.held.empty());
    }
  }
  EXPECT_EQ(starts, 2u);
  EXPECT_EQ(submissions, 2u);
}

TEST_F(ReplayerTest, StopsWhereTheFileIsCutAndHasReplayedTheRest) {
  for (std::size_t cut = file_.size() - 200; cut < file_.size(); ++cut) {
    replayer_ = Replayer();
    EXPECT_TRUE(replay(BytesView(file_).first(cut)).has_value());
    EXPECT_FALSE(replayer_.difference());
    EXPECT_GT(replayer_.events(), 10u);
  }
}

TEST_F(ReplayerTest, RefusesEntriesThatCannotFollowEachOther) {
  Bytes event = encode_entry(EventHandled{{}, {}, 0, WakeUp{}});
  Bytes record = encode_entry(RecordRestored{NodeRecord{}});
  NodeMade made;
  made.records = 2;
  made.config = lone_node();
  Status early = replay(file_of({event}));
  ASSERT_FALSE(early.has_value());
  EXPECT_THAT(early.error().message, HasSubstr("entry 1 at byte 48: an event without a node"));
  EXPECT_FALSE(replay(file_of({record})).has_value());
  Status between = replay(file_of({encode_entry(made), record, event}));
  ASSERT_FALSE(between.has_value());
  EXPECT_THAT(between.error().message, HasSubstr("1 of its records are missing"));
}

}  // namespace
}  // namespace abacus
