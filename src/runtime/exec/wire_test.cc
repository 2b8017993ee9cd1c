// The control protocol's bytes: round trips, damage, later versions, and streams cut anywhere.
#include "runtime/exec/wire.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <type_traits>

namespace abacus::wire {
namespace {

Launch sample_launch() {
  Launch launch;
  launch.attempt.task.job.bytes = {1, 2, 3};
  launch.attempt.task.index = 7;
  launch.attempt.number = 2;
  launch.folder = "f";
  launch.work_dir = "/w";
  launch.argv = {"a", "", std::string(1000, 'x')};
  launch.env = {"K=V"};
  launch.limits = true;
  launch.cpu_milli = 1500;
  launch.memory_bytes = 1ull << 40;
  launch.pids_max = 9;
  launch.output_cap_bytes = 5;
  launch.time_limit = seconds(-3);
  launch.grace = seconds(30);
  launch.cpus = {0, 4'000'000'000u};
  return launch;
}

std::vector<Message> samples() {
  ExitRecord record;
  record.exit_code = 85;
  record.signal = -1;
  record.started = {5};
  record.peak_memory_bytes = ~0ull;
  record.stderr_truncated = record.oom_killed = record.interrupted = true;
  record.launch_error = std::string("zero \0 byte", 11);
  AttemptId attempt = sample_launch().attempt;
  return {Hello{3, LeaseId{}, 42},
          sample_launch(),
          Interrupt{attempt, seconds(1)},
          Forget{attempt, "f"},
          Close{true},
          Started{attempt, 5, {6}},
          Ended{attempt, record},
          Listed{},
          Refused{"why"},
          Extend{{7}}};
}

std::string encoded(const Message& message) {
  std::string bytes;
  encode(message, bytes);
  return bytes;
}

TEST(Wire, EveryMessageComesBack) {
  for (const Message& message : samples()) {
    std::string bytes = encoded(message);
    auto back = decode(std::string_view(bytes).substr(4));
    ASSERT_TRUE(back.has_value()) << message.index();
    EXPECT_TRUE(*back == message) << message.index();
  }
}

TEST(Wire, FieldsOfLaterVersionsAreIgnored) {
  for (const Message& message : samples()) {
    auto back = decode(encoded(message).substr(4) + "more fields");
    ASSERT_TRUE(back.has_value());
    EXPECT_TRUE(*back == message);
  }
  EXPECT_TRUE(decode("\xc8 a type of a later version") == Message(UnknownMessage{0xc8}));
}

TEST(Wire, AMessageCutShortIsMalformed) {
  for (const Message& message : samples()) {
    std::string content = encoded(message).substr(4);
    for (std::size_t size = std::holds_alternative<Listed>(message) ? content.size() : 0; size < content.size();
         ++size) {
      EXPECT_FALSE(decode(content.substr(0, size)).has_value()) << message.index() << " cut to " << size;
    }
  }
}

TEST(Wire, ALyingCountAllocatesNothing) {
  std::string content = encoded(Refused{"x"}).substr(4);
  content.replace(1, 4, "\xff\xff\xff\xff");
  EXPECT_FALSE(decode(content).has_value());
}

TEST(Wire, TheFormatOfVersion1IsFixed) {
  AttemptId attempt = sample_launch().attempt;
  std::string expected("\x17\0\0\0\x03\x01\x02\x03\0\0\0\x07\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0", 27);
  EXPECT_EQ(encoded(Interrupt{attempt, nanoseconds(1)}), expected);
}

TEST(Wire, AnyBytesAreDecodedOrRefused) {
  rc::check([](const std::string& bytes) {
    if (auto message = decode(bytes); message && !std::holds_alternative<UnknownMessage>(*message)) {
      auto again = decode(std::string_view(encoded(*message)).substr(4));
      RC_ASSERT(again.has_value() && *again == *message);
    }
  });
}

TEST(Wire, StreamsMayBeCutAnywhere) {
  rc::check([] {
    std::string stream;
    for (const Message& message : samples()) encode(message, stream);
    FrameReader reader;
    std::vector<Message> got;
    for (std::size_t at = 0; at < stream.size();) {
      auto size = static_cast<std::size_t>(*rc::gen::inRange(1, 200));
      reader.push(std::string_view(stream).substr(at, size));
      at += size;
      while (auto frame = reader.next()) got.push_back(*decode(*frame));
    }
    RC_ASSERT(got == samples());
    RC_ASSERT(!reader.broken());
  });
}

TEST(Wire, ImpossibleLengthsBreakTheStream) {
  for (std::string bytes : {std::string(4, '\0'), std::string("\xff\xff\xff\x7f"), std::string("\x01\0\x40\0", 4)}) {
    FrameReader reader;
    reader.push(bytes);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_TRUE(reader.broken());
  }
}

}  // namespace
}  // namespace abacus::wire
