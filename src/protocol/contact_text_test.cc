// Contacts survive being written and read.
#include "protocol/contact_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace abacus {
namespace {

TEST(ContactText, SurvivesBeingWrittenAndRead) {
  Contact contact{{}, Endpoint::parse("[::1]:7411").value()};
  contact.node.bytes[3] = 4;
  EXPECT_EQ(parse_contact(to_string(contact)).value(), contact);
}

TEST(ContactText, SaysWhatWouldBeRight) {
  for (const char* wrong : {"", "nobody", "@127.0.0.1:1", "00@127.0.0.1:1"}) {
    auto contact = parse_contact(wrong);
    ASSERT_FALSE(contact.has_value()) << wrong;
    EXPECT_THAT(contact.error().message, ::testing::HasSubstr("NODE@ADDRESS:PORT"));
  }
}

}  // namespace
}  // namespace abacus
