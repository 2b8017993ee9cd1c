// Exit records on disk: kept over reopening, cut at a torn write, withdrawn, compacted.
#include "runtime/exec/record_log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

AttemptId attempt(std::uint32_t index) { return {{JobId{}, index}, 1}; }

ExitRecord record(int code) {
  ExitRecord made;
  made.exit_code = code;
  made.launch_error = "text";
  return made;
}

class RecordLogTest : public ::testing::Test {
 protected:
  std::string bytes() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryDirectory folder_;
  std::string path_ = (folder_ / "records").string();
};

TEST_F(RecordLogTest, KeepsWhatWasCommitted) {
  {
    RecordLog log;
    ASSERT_TRUE(log.open(path_));
    log.add(attempt(1), record(1));
    log.add(attempt(2), record(2));
    ASSERT_TRUE(log.commit());
    log.add(attempt(3), record(3));
    log.forget(attempt(1));
    ASSERT_TRUE(log.commit());
    log.add(attempt(4), record(4));  // Never committed.
  }
  RecordMap expected = {{attempt(2), record(2)}, {attempt(3), record(3)}};
  EXPECT_EQ(read_records(path_), expected);
  RecordLog again;
  ASSERT_TRUE(again.open(path_));
  EXPECT_EQ(again.records(), expected);
  again.add(attempt(5), record(5));
  ASSERT_TRUE(again.commit());
  expected[attempt(5)] = record(5);
  EXPECT_EQ(read_records(path_), expected);
}

TEST_F(RecordLogTest, ATornTailIsCutOff) {
  {
    RecordLog log;
    ASSERT_TRUE(log.open(path_));
    log.add(attempt(1), record(1));
    log.add(attempt(2), record(2));
    ASSERT_TRUE(log.commit());
  }
  std::string whole = bytes();
  std::size_t good = 0;
  ASSERT_EQ(parse_records(whole, &good).size(), 2u);
  ASSERT_LT(good, whole.size()) << "filled ahead with zeros";
  for (std::size_t cut = good / 2 + 1; cut < good; ++cut) {
    std::string torn = whole.substr(0, cut) + std::string(whole.size() - cut, '\0');
    EXPECT_LE(parse_records(torn).size(), 2u);
    EXPECT_TRUE(parse_records(torn).contains(attempt(1)));
    EXPECT_LE(parse_records(whole.substr(0, cut)).size(), 1u);
  }
  whole[good - 1] ^= 1;
  std::ofstream(path_, std::ios::binary) << whole;
  RecordLog log;
  ASSERT_TRUE(log.open(path_));
  EXPECT_EQ(log.records().size(), 1u);
  log.add(attempt(3), record(3));
  ASSERT_TRUE(log.commit());
  EXPECT_EQ(read_records(path_), (RecordMap{{attempt(1), record(1)}, {attempt(3), record(3)}}));
}

TEST_F(RecordLogTest, WithdrawnRecordsDoNotFillTheDisk) {
  RecordLog log;
  ASSERT_TRUE(log.open(path_));
  log.add(attempt(0), record(0));
  for (std::uint32_t i = 1; i <= 20'000; ++i) {
    log.add(attempt(i), record(1));
    log.forget(attempt(i));
    ASSERT_TRUE(i % 500 != 0 || log.commit());
  }
  EXPECT_LT(std::filesystem::file_size(path_), 2'000'000u);
  log.add(attempt(1), record(9));
  ASSERT_TRUE(log.commit());
  EXPECT_EQ(read_records(path_), (RecordMap{{attempt(0), record(0)}, {attempt(1), record(9)}}));
}

TEST_F(RecordLogTest, AFolderThatIsNotThereIsAnError) {
  RecordLog log;
  EXPECT_FALSE(log.open((folder_ / "no" / "records").string()));
  EXPECT_TRUE(read_records((folder_ / "no" / "records").string()).empty());
}

TEST(RecordLog, AnyBytesAreParsed) {
  rc::check([](const std::string& bytes) {
    std::size_t good = 0;
    parse_records(bytes, &good);
    RC_ASSERT(good <= bytes.size());
  });
}

}  // namespace
}  // namespace abacus
