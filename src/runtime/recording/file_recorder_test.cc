// Recordings go on where they ended, however they ended, stop at their limit, and are nobody else's to read.
#include "runtime/recording/file_recorder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "core/recording/recording_reader.h"
#include "runtime/posix/mapped_file.h"
#include "runtime/posix/temporary_directory.h"
#include "runtime/recording/recording_file.h"

namespace abacus {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class FileRecorderTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<FileRecorder>> open(std::uint64_t bytes_max = 1 << 20) {
    return FileRecorder::open({path_, bytes_max, "1.2.3", log_});
  }

  /// A node with two records that hears of `events` lost peers.
  void record(int events, std::uint64_t bytes_max = 1 << 20) {
    auto recorder = open(bytes_max);
    ASSERT_TRUE(recorder.has_value()) << recorder.error().message;
    (*recorder)->started({}, {NodeRecord{}, NodeRecord{}}, {}, {});
    for (int i = 0; i < events; ++i) (*recorder)->handled(PeerLost{{}, "gone"}, {}, {});
  }

  struct Content {
    std::uint64_t nodes = 0, records = 0, events = 0, bytes_lost = 0;
    bool torn = false;
  };
  Content content() {
    Content content;
    MappedFile file = MappedFile::open(path_).value();
    RecordingReader reader = RecordingReader::open(file.bytes()).value();
    while (auto placed = reader.next().value()) {
      if (const auto* made = std::get_if<NodeMade>(&placed->entry)) content.bytes_lost += made->bytes_lost;
      ++(std::holds_alternative<NodeMade>(placed->entry)         ? content.nodes
         : std::holds_alternative<RecordRestored>(placed->entry) ? content.records
                                                                 : content.events);
    }
    content.torn = reader.torn().has_value();
    return content;
  }

  TemporaryDirectory directory_;
  fs::path path_ = directory_ / "recording";
  std::ostringstream logged_;
  std::shared_ptr<spdlog::logger> log_ =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(logged_));
};

TEST_F(FileRecorderTest, WritesWhatItHears) {
  record(5);
  Content all = content();
  EXPECT_EQ(all.nodes, 1u);
  EXPECT_EQ(all.records, 2u);
  EXPECT_EQ(all.events, 5u);
  struct stat about {};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(FileRecorderTest, GoesOnBehindWhatIsThere) {
  record(5);
  record(7);
  Content all = content();
  EXPECT_EQ(all.nodes, 2u);
  EXPECT_EQ(all.events, 12u);
}

TEST_F(FileRecorderTest, CutsATornTailOffAndRemembersIt) {
  record(5);
  std::uint64_t size = fs::file_size(path_);
  std::ofstream(path_, std::ios::app) << "torn";
  EXPECT_TRUE(content().torn);
  record(1);
  EXPECT_FALSE(content().torn);
  EXPECT_EQ(content().bytes_lost, 4u);
  EXPECT_EQ(content().events, 6u);
  EXPECT_THAT(logged_.str(), HasSubstr("4 bytes are cut off"));
  EXPECT_GT(fs::file_size(path_), size);
}

TEST_F(FileRecorderTest, BeginsAnewWhereOnlyPartOfAHeaderIsThere) {
  std::ofstream(path_) << "abacusrc\x01";
  record(3);
  EXPECT_EQ(content().events, 3u);
}

TEST_F(FileRecorderTest, LeavesADamagedFileAndOtherFilesAlone) {
  record(5);
  std::fstream(path_, std::ios::in | std::ios::out).seekp(100).put('\xff');
  std::uint64_t size = fs::file_size(path_);
  auto damaged = open();
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
  EXPECT_THAT(damaged.error().message, HasSubstr(path_.native()));
  EXPECT_EQ(fs::file_size(path_), size);
  std::ofstream(path_, std::ios::trunc) << "a shopping list of more than a few bytes, which must not be lost";
  auto foreign = open();
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error().code, ErrorCode::invalid);
}

TEST_F(FileRecorderTest, HasOneWriter) {
  auto first = open();
  ASSERT_TRUE(first.has_value());
  auto second = open();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::already_exists);
}

TEST_F(FileRecorderTest, StopsAtItsLimitBetweenTwoEntriesAndSaysSo) {
  record(1'000, 4'096);
  EXPECT_LE(fs::file_size(path_), 4'096u);
  Content all = content();
  EXPECT_FALSE(all.torn);
  EXPECT_GT(all.events, 10u);
  EXPECT_LT(all.events, 1'000u);
  EXPECT_THAT(logged_.str(), HasSubstr("has reached its limit (--record-max 4 KiB)"));
  record(1, 4'096);
  EXPECT_EQ(content().nodes, 1u);
}

TEST_F(FileRecorderTest, LeavesTheAgentInPeaceWhenTheDiskIsFull) {
  {
    Fd full = open_at(AT_FDCWD, "/dev/full", O_WRONLY).value();
    FileRecorder recorder({"/dev/full", 0, 1 << 20, log_}, std::move(full), "1.2.3", 0);
    recorder.started({}, {}, {}, {});
    for (int i = 0; i < 100; ++i) recorder.handled(WakeUp{}, {}, {});
  }
  EXPECT_THAT(logged_.str(), HasSubstr("the recording ends here: /dev/full"));
}

}  // namespace
}  // namespace abacus
