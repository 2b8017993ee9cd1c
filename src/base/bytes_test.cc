// Hex text: round trips and what it refuses.
#include "base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace abacus {
namespace {

TEST(Bytes, ToHexIsLowerCaseAndPadded) {
  EXPECT_EQ(to_hex(Bytes{0x00, 0x0f, 0xa5, 0xff}), "000fa5ff");
  EXPECT_EQ(to_hex({}), "");
}

RC_GTEST_PROP(Bytes, HexRoundTrip, (const Bytes& bytes)) {
  Result<Bytes> back = from_hex(to_hex(bytes));
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == bytes);
}

TEST(Bytes, FromHexTakesUpperCase) { EXPECT_EQ(from_hex("AbCdEf").value(), (Bytes{0xab, 0xcd, 0xef})); }

TEST(Bytes, FromHexRefusesOddLength) {
  Result<Bytes> result = from_hex("abc");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalid);
  EXPECT_NE(result.error().message.find("odd number of digits (3)"), std::string::npos);
}

RC_GTEST_PROP(Bytes, FromHexRefusesEveryOtherCharacter, (char c)) {
  RC_PRE(std::string_view("0123456789abcdefABCDEF").find(c) == std::string_view::npos);
  RC_ASSERT(!from_hex(std::string{c, '0'}).has_value());
  RC_ASSERT(!from_hex(std::string{'0', c}).has_value());
}

RC_GTEST_PROP(Bytes, TextAndBytesAreTwoViewsOfTheSame, (const std::string& text)) {
  BytesView bytes = as_bytes(text);
  RC_ASSERT(bytes.size() == text.size());
  RC_ASSERT(as_text(bytes).data() == text.data());
  RC_ASSERT(as_text(bytes) == text);
}

}  // namespace
}  // namespace abacus
