// Wherever a file is cut, what came before is read and the cut is named; whatever bit is turned over, it is noticed.
#include "core/recording/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/recording/crc32c.h"
#include "core/recording/recording_fixture.h"

namespace abacus {
namespace {

using ::testing::HasSubstr;

const std::vector<Bytes> kContents = {{1, 2, 3}, {}, {0, 0, 0, 0}, Bytes(100, 7)};

Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }

struct Outcome {
  std::vector<Bytes> contents;
  std::optional<TornTail> torn;
  std::optional<Error> error;
};

Outcome read_all(BytesView file) {
  Outcome outcome;
  auto reader = EntryFrameReader::open(file);
  if (!reader) return {{}, {}, reader.error()};
  while (true) {
    auto content = reader->next();
    if (!content) outcome.error = content.error();
    if (!content || !*content) break;
    outcome.contents.emplace_back((*content)->begin(), (*content)->end());
  }
  outcome.torn = reader->torn();
  return outcome;
}

TEST(Crc32c, IsTheOneOfRfc3720) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(Bytes(32, 0)), 0x8a9136aau);
  EXPECT_EQ(crc32c(Bytes(32, 0xff)), 0x62a8ab43u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Frames, AreReadAsTheyWereWritten) {
  Bytes file = file_of(kContents);
  auto reader = EntryFrameReader::open(file);
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(reader->version(), "1.2.3");
  Outcome outcome = read_all(file);
  EXPECT_EQ(outcome.contents, kContents);
  EXPECT_FALSE(outcome.torn);
  EXPECT_FALSE(outcome.error);
}

TEST(Frames, OfAFileThatIsCutAnywhereAreReadUpToTheCut) {
  Bytes file = file_of(kContents);
  std::vector<std::size_t> ends{kRecordingHeaderBytes};
  for (const Bytes& content : kContents) ends.push_back(ends.back() + kEntryFrameHeaderBytes + content.size());
  std::size_t whole = 0;
  for (std::size_t cut = kRecordingHeaderBytes; cut < file.size(); ++cut) {
    if (cut == ends[whole + 1]) ++whole;
    Outcome outcome = read_all(BytesView(file).first(cut));
    EXPECT_FALSE(outcome.error) << cut;
    EXPECT_EQ(outcome.contents.size(), whole) << cut;
    ASSERT_EQ(outcome.torn.has_value(), cut != ends[whole]) << cut;
    if (!outcome.torn) continue;
    EXPECT_EQ(outcome.torn->entry, whole + 1);
    EXPECT_EQ(outcome.torn->offset, ends[whole]);
    EXPECT_EQ(outcome.torn->bytes, cut - ends[whole]);
  }
  for (std::size_t cut = 0; cut < kRecordingHeaderBytes; ++cut) {
    EXPECT_TRUE(read_all(BytesView(file).first(cut)).error) << cut;
  }
}

TEST(Frames, OfWhichAnyBitIsTurnedOverAreRefused) {
  const Bytes file = file_of(kContents);
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = file;
      damaged[at] ^= static_cast<std::uint8_t>(1 << bit);
      Outcome outcome = read_all(damaged);
      ASSERT_TRUE(outcome.error) << at << "." << bit;
      EXPECT_LT(outcome.contents.size(), kContents.size());
      EXPECT_THAT(outcome.error->message, HasSubstr(at < kRecordingHeaderBytes ? "" : "at byte "));
    }
  }
}

TEST(Frames, ZerosAtTheEndAreATornTail) {
  Bytes file = file_of(kContents);
  std::size_t size = file.size();
  file.resize(size + 4096);
  Outcome outcome = read_all(file);
  EXPECT_EQ(outcome.contents, kContents);
  ASSERT_TRUE(outcome.torn);
  EXPECT_EQ(outcome.torn->offset, size);
  file.back() = 1;
  EXPECT_TRUE(read_all(file).error);
}

TEST(Frames, OfTheFutureAreRefusedWithAWayOut) {
  Bytes file = file_of(kContents);
  file[8] = 2;
  Outcome outcome = read_all(file);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::unsupported);
  EXPECT_THAT(outcome.error->message, HasSubstr("format 2, this version reads format 1"));
}

TEST(Frames, AnythingElseIsNoRecording) {
  Outcome outcome = read_all(bytes_of("#!/bin/sh\necho hello; echo hello; echo hello; echo hello\n"));
  ASSERT_TRUE(outcome.error);
  EXPECT_THAT(outcome.error->message, HasSubstr("not a recording"));
  EXPECT_TRUE(read_all({}).error);
}

}  // namespace
}  // namespace abacus
