// Persist, then promise: nothing that depends on the journal leaves before the journal has it, and what a failed commit
// would have carried was never promised.
#include "core/driver/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace abacus {
namespace {

/// Remembers what left, and commits when told to.
class PatientWorld final : public World {
 public:
  void carry_out(Effect effect) override { left.push_back(std::move(effect)); }
  void commit(std::vector<JournalChange> changes) override { pending = std::move(changes); }
  Result<std::vector<Record>> load() override {
    std::vector<Record> records;
    for (const auto& [name, value] : rows) {
      TRY(Record record, decode_record(name.first, value));
      records.push_back(std::move(record));
    }
    return records;
  }

  bool commit_is_out() const { return pending.has_value(); }
  void make_durable() {
    for (JournalChange& change : *pending) {
      if (change.value) {
        rows[{change.kind, change.key}] = *change.value;
      } else {
        rows.erase({change.kind, change.key});
      }
    }
    pending.reset();
  }
  template <class E>
  std::size_t count() const {
    std::size_t found = 0;
    for (const Effect& effect : left) found += std::holds_alternative<E>(effect) ? 1 : 0;
    return found;
  }

  std::vector<Effect> left;
  std::optional<std::vector<JournalChange>> pending;
  std::map<std::pair<std::uint16_t, Bytes>, Bytes> rows;
};

NodeConfig lone_node() {
  NodeConfig config;
  config.self.node.bytes[0] = 1;
  config.self.endpoint.port = 1;
  config.region = "here";
  config.capacity.cpu_milli = 4'000;
  config.capacity.memory_bytes = 1ull << 30;
  config.capacity.disk_bytes = 1ull << 30;
  config.seed = 42;
  return config;
}

JobSpec some_job() {
  JobSpec spec;
  spec.work.command = {"true"};
  return spec;
}

constexpr Now kStart{MonoTime{1'000'000'000}, WallTime{1'800'000'000'000'000'000}};

Now after(Duration duration) { return {kStart.mono + duration, kStart.wall + duration}; }

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() {
    EXPECT_TRUE(driver_.start(kStart).has_value());
    finish_commits(kStart);
    world_.left.clear();
  }

  void finish_commits(Now now) {
    for (int i = 0; i < 100 && world_.commit_is_out(); ++i) {
      world_.make_durable();
      EXPECT_TRUE(driver_.committed(Status{}, now).has_value());
      while (driver_.run(now)) {
      }
    }
  }

  PatientWorld world_;
  Driver driver_{lone_node(), world_};
};

TEST_F(DriverTest, AcknowledgesASubmissionOnlyWhenItIsDurable) {
  driver_.post(SubmitJob{7, some_job()});
  driver_.run(after(seconds(1)));
  ASSERT_TRUE(world_.commit_is_out());
  EXPECT_EQ(world_.count<Answer>(), 0u);
  world_.make_durable();
  ASSERT_TRUE(driver_.committed(Status{}, after(seconds(1))).has_value());
  EXPECT_EQ(world_.count<Answer>(), 1u);
}

TEST_F(DriverTest, AFailedCommitPromisedNothingAndIsForgotten) {
  std::uint64_t epoch = driver_.node()->epoch();
  driver_.post(SubmitJob{7, some_job()});
  driver_.run(after(seconds(1)));
  ASSERT_TRUE(world_.commit_is_out());
  world_.pending.reset();
  Status failed = fail(ErrorCode::exhausted, "disk full");
  ASSERT_TRUE(driver_.committed(failed, after(seconds(1))).has_value());
  EXPECT_TRUE(driver_.node()->buying().jobs(after(seconds(1)), 10).empty());
  driver_.run(after(seconds(2)));
  finish_commits(after(seconds(2)));
  EXPECT_EQ(world_.count<Answer>(), 0u);
  EXPECT_EQ(world_.count<Launch>(), 0u);
  EXPECT_EQ(driver_.node()->epoch(), epoch + 1);
}

TEST_F(DriverTest, AfterAFailedCommitItStillKnowsWhomToSpeakTo) {
  Contact friend_of_old;
  friend_of_old.node.bytes[0] = 9;
  friend_of_old.endpoint = Endpoint::parse("10.0.0.9:4000").value();
  driver_.post(ContactsGiven{{friend_of_old}});
  driver_.post(SubmitJob{7, some_job()});
  driver_.run(after(seconds(1)));
  ASSERT_TRUE(world_.commit_is_out());
  world_.pending.reset();
  ASSERT_TRUE(driver_.committed(fail(ErrorCode::exhausted, "disk full"), after(seconds(1))).has_value());
  world_.left.clear();
  driver_.run(after(seconds(2)));
  EXPECT_THAT(driver_.node()->overlay().seeds(), testing::ElementsAre(friend_of_old));
  EXPECT_EQ(world_.count<Send>(), 1u) << "it asks to join";
}

TEST_F(DriverTest, AfterFailedCommitsItPausesLongerAndLonger) {
  Now now = after(seconds(1));
  driver_.post(SubmitJob{7, some_job()});
  driver_.run(now);
  Duration last{};
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(world_.commit_is_out());
    world_.pending.reset();
    ASSERT_TRUE(driver_.committed(fail(ErrorCode::exhausted, "disk full"), now).has_value());
    world_.left.clear();
    EXPECT_TRUE(driver_.pausing());
    driver_.post(SubmitJob{8, some_job()});
    EXPECT_FALSE(driver_.run(now));
    EXPECT_TRUE(world_.left.empty()) << "nothing leaves while it pauses";
    ASSERT_TRUE(driver_.next_wake().has_value());
    Duration pause = *driver_.next_wake() - now.mono;
    EXPECT_GT(pause, Duration{});
    EXPECT_TRUE(pause > last || pause == seconds(10)) << to_string(pause);
    last = pause;
    now = {now.mono + pause, now.wall + pause};
    driver_.run(now);
    EXPECT_FALSE(driver_.pausing());
  }
  EXPECT_EQ(last, seconds(10));
  finish_commits(now);
  EXPECT_TRUE(driver_.node()->buying().jobs(now, 10).empty()) << "what came during a pause is dropped";
}

TEST_F(DriverTest, OneCommitIsOutAtATimeAndLaterChangesWait) {
  driver_.post(SubmitJob{7, some_job()});
  driver_.run(after(seconds(1)));
  std::size_t first = world_.pending->size();
  driver_.post(SubmitJob{8, some_job()});
  driver_.run(after(seconds(1)));
  EXPECT_EQ(world_.pending->size(), first);
  world_.make_durable();
  ASSERT_TRUE(driver_.committed(Status{}, after(seconds(1))).has_value());
  EXPECT_EQ(world_.count<Answer>(), 1u);
  EXPECT_TRUE(world_.commit_is_out());
}

TEST_F(DriverTest, MessagesToItselfNeedNoNetworkAndALaunchWaitsForItsIntent) {
  for (const Effect& effect : world_.left) ASSERT_FALSE(std::holds_alternative<Send>(effect));
  driver_.post(RunsAdopted{});
  // The own offer comes back signed, so that the node knows of itself as a seller.
  Offer offer;
  offer.contact = lone_node().self;
  offer.region = "here";
  offer.capacity = lone_node().capacity;
  offer.sequence = driver_.node()->epoch() << 32 | 1;
  offer.issued_at = kStart.wall;
  driver_.post(OfferSigned{make_signed_offer(encode(offer), {}).value()});
  driver_.post(SubmitJob{7, some_job()});
  for (int i = 0; i < 50 && world_.count<Launch>() == 0; ++i) {
    Now now = after(milliseconds(1'000 + 10 * i));
    while (driver_.run(now)) {
    }
    if (world_.commit_is_out()) {
      EXPECT_EQ(world_.count<Launch>(), 0u) << "before the commit";
    }
    finish_commits(now);
  }
  EXPECT_EQ(world_.count<Launch>(), 1u);
  EXPECT_EQ(world_.count<Send>(), 0u);
}

TEST_F(DriverTest, ADriverMadeAnewRemembersWhatWasDurable) {
  driver_.post(SubmitJob{7, some_job()});
  driver_.run(after(seconds(1)));
  finish_commits(after(seconds(1)));
  Driver again(lone_node(), world_);
  ASSERT_TRUE(again.start(after(seconds(2))).has_value());
  EXPECT_EQ(again.node()->buying().jobs(after(seconds(2)), 10).size(), 1u);
}

}  // namespace
}  // namespace abacus
