// Frames however the stream is cut: headers, limits, noise, a stream that stops within a frame.
#include "runtime/net/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace abacus {
namespace {

TEST(FrameTest, HeaderIsLittleEndian) {
  Bytes wire;
  append_frame(wire, Bytes(0x0102, 9));
  EXPECT_EQ(wire.size(), 4u + 0x0102);
  EXPECT_EQ(Bytes(wire.begin(), wire.begin() + 4), (Bytes{0x02, 0x01, 0, 0}));
}

RC_GTEST_PROP(FrameTest, AnyCutGivesTheSameFrames,
              (const std::vector<Bytes>& frames, const std::vector<unsigned>& cuts)) {
  Bytes wire;
  for (const Bytes& frame : frames) append_frame(wire, frame);
  FrameParser parser(1 << 20);
  std::vector<Bytes> got;
  BytesView rest(wire);
  for (unsigned cut : cuts) {
    std::size_t size = std::min<std::size_t>(cut % 7, rest.size());
    RC_ASSERT(parser.feed(rest.first(size), got).has_value());
    rest = rest.subspan(size);
  }
  RC_ASSERT(parser.feed(rest, got).has_value());
  RC_ASSERT(got == frames);
  RC_ASSERT(!parser.mid_frame());
}

RC_GTEST_PROP(FrameTest, AnyBytesAreFramesOrAnError, (const Bytes& noise)) {
  FrameParser parser(64);
  std::vector<Bytes> got;
  Status parsed = parser.feed(noise, got);
  for (const Bytes& frame : got) RC_ASSERT(frame.size() <= 64u);
  if (!parsed) RC_ASSERT(parsed.error().code == ErrorCode::corrupt);
}

TEST(FrameTest, TheLimitItselfIsLegalAndOneMoreIsNot) {
  std::vector<Bytes> got;
  Bytes wire;
  append_frame(wire, Bytes(64, 1));
  append_frame(wire, Bytes(65, 2));
  FrameParser parser(64);
  Status parsed = parser.feed(wire, got);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].size(), 64u);
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("65 bytes, the limit here is 64"), std::string::npos);
  EXPECT_FALSE(parser.feed(Bytes{0}, got)) << "the error must stay";
}

TEST(FrameTest, KnowsWhenTheStreamStopsInsideAFrame) {
  FrameParser parser(64);
  std::vector<Bytes> got;
  EXPECT_TRUE(parser.feed(Bytes{1, 0}, got));
  EXPECT_TRUE(parser.mid_frame());
  EXPECT_TRUE(parser.feed(Bytes{0, 0}, got));
  EXPECT_TRUE(parser.mid_frame());
  EXPECT_TRUE(parser.feed(Bytes{5}, got));
  EXPECT_FALSE(parser.mid_frame());
  EXPECT_EQ(got, (std::vector<Bytes>{{5}}));
}

}  // namespace
}  // namespace abacus
