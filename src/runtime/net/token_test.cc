// Tokens, their book, what an authority vouches for, and the limit on failed attempts.
#include "runtime/net/token.h"

#include "runtime/net/authority.h"
#include "runtime/net/failure_limiter.h"
#include "runtime/net/files.h"
#include "runtime/net/testing.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

NodeId node(std::uint8_t number) {
  NodeId id;
  id.bytes[0] = number;
  return id;
}

class TokenTest : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  TokenBook book{folder.path() / "tokens.json"};
  OrgId org = KeyPair::generate().org_id();
  WallTime now = testing::wall_now();
};

TEST_F(TokenTest, TextRoundTripsAndDetectsDamage) {
  EnrolmentToken token = book.make(org, {}, now).value();
  std::string text = token.to_string();
  EnrolmentToken read = EnrolmentToken::parse("  " + text + "\n").value();
  EXPECT_EQ(read.org, org);
  EXPECT_EQ(read.secret, token.secret);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(EnrolmentToken::parse(damaged)) << i;
    EXPECT_FALSE(EnrolmentToken::parse(text.substr(0, i))) << i;
  }
  EXPECT_FALSE(EnrolmentToken::parse(text + "A"));
}

TEST_F(TokenTest, TheFileHoldsNoSecretAndIsPrivate) {
  EnrolmentToken token = book.make(org, {}, now).value();
  std::string text = read_secret_file(folder.path() / "tokens.json").value();
  EXPECT_EQ(text.find(to_hex(token.secret)), std::string::npos);
  EXPECT_EQ(text.find(token.to_string()), std::string::npos);
}

TEST_F(TokenTest, CountsNodesNotAttempts) {
  EnrolmentToken token = book.make(org, {.uses = 2, .attributes = {{"eu", false}, {}, {}, {}}}, now).value();
  EXPECT_EQ(book.redeem(token.secret, node(1), now)->region, (Attribute{"eu", true}));
  EXPECT_TRUE(book.redeem(token.secret, node(1), now)) << "the same node may ask again";
  EXPECT_TRUE(book.redeem(token.secret, node(2), now));
  auto third = TokenBook(folder.path() / "tokens.json").redeem(token.secret, node(3), now);
  ASSERT_FALSE(third) << "uses must be remembered in the file";
  EXPECT_EQ(third.error().code, ErrorCode::denied);
  EXPECT_NE(third.error().message.find("used up"), std::string::npos);
}

TEST_F(TokenTest, ExpiresAndIsForgottenLater) {
  EnrolmentToken token = book.make(org, {.valid_for = hours(1), .attributes = {}}, now).value();
  EXPECT_TRUE(book.redeem(token.secret, node(1), now + minutes(59)));
  auto late = book.redeem(token.secret, node(1), now + hours(1));
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("expired on"), std::string::npos);
  (void)book.make(org, {}, now + hours(24 * 9));
  auto unknown = book.redeem(token.secret, node(1), now + hours(24 * 9));
  EXPECT_NE(unknown.error().message.find("does not know"), std::string::npos);
}

TEST_F(TokenTest, RefusesSenselessGrantsAndADamagedBook) {
  EXPECT_EQ(book.make(org, {.uses = 0, .attributes = {}}, now).error().code, ErrorCode::invalid);
  EXPECT_EQ(book.make(org, {.valid_for = seconds(0), .attributes = {}}, now).error().code, ErrorCode::invalid);
  ASSERT_TRUE(write_small_file(folder.path() / "tokens.json", "{\"tokens\":7}", 0600));
  EXPECT_EQ(book.make(org, {}, now).error().code, ErrorCode::corrupt);
}

TEST_F(TokenTest, TheAuthorityVouchesOnlyForWhatTheTokenFixes) {
  OrgAuthority authority = OrgAuthority::create(folder.path() / "org", "Acme", now).value();
  EnrolmentToken token = authority.make_token({.uses = 9, .attributes = {{"eu", false}, {}, {}, {}}}, now).value();
  NodeAttributes wish{{"", false}, {"", false}, {"me", true}, {"", false}};
  Certificate certificate = authority.enrol(token.secret, node(1), wish, now).value();
  EXPECT_EQ(certificate.attributes().region, (Attribute{"eu", true}));
  EXPECT_EQ(certificate.attributes().owner, (Attribute{"me", false})) << "self-declared, whatever the joiner claims";
  wish.region.value = "us";
  auto conflict = authority.enrol(token.secret, node(2), wish, now);
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, ErrorCode::invalid);
}

TEST(FailureLimiterTest, LimitsOneAddressThenAllUntilTheMinuteIsOver) {
  FailureLimiter limiter(2, 5);
  MonoTime now{1};
  limiter.failed("a", now);
  EXPECT_TRUE(limiter.allows("a", now));
  limiter.failed("a", now);
  EXPECT_FALSE(limiter.allows("a", now));
  EXPECT_TRUE(limiter.allows("b", now));
  for (const char* address : {"b", "c", "d"}) limiter.failed(address, now);
  EXPECT_FALSE(limiter.allows("e", now));
  EXPECT_TRUE(limiter.allows("a", now + minutes(1)));
}

}  // namespace
}  // namespace abacus
