// Sizes to and from text.
#include "base/size.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace abacus {
namespace {

TEST(Size, ReadsUnits) {
  EXPECT_EQ(parse_size("65536").value(), 65536u);
  EXPECT_EQ(parse_size("4GiB").value(), 4ull << 30);
  EXPECT_EQ(parse_size("4g").value(), 4ull << 30);
  EXPECT_EQ(parse_size("1.5 GiB").value(), 3ull << 29);
  EXPECT_EQ(parse_size("2MB").value(), 2'000'000u);
  EXPECT_EQ(parse_size("0").value(), 0u);
  EXPECT_EQ(parse_size("0.5B").value(), 0u);
}

TEST(Size, RefusesTheRest) {
  for (const char* text : {"", "GiB", "-1", "1.", ".5", "1.2.3", "4 GiBs", "4GiB ", "1e9", "9223372036854775808",
                           "99999999 TiB", "1234567890123456789"}) {
    auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().code, ErrorCode::invalid);
    EXPECT_NE(size.error().message.find("such as 4GiB"), std::string::npos);
  }
}

TEST(Size, Shows) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(3ull << 29), "1.5 GiB");
  EXPECT_EQ(size_text((1ull << 30) - 1), "1023 MiB");
  EXPECT_EQ(size_text(~0ull), "16383 PiB");
}

RC_GTEST_PROP(Size, WhatIsShownIsReadBackNearby, (std::uint32_t bytes)) {
  std::uint64_t back = parse_size(size_text(bytes)).value();
  RC_ASSERT(back <= bytes);
  RC_ASSERT(bytes - back <= bytes / 50);
}

}  // namespace
}  // namespace abacus
