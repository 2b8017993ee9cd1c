// Joining over real connections.
#include "runtime/net/enrolment.h"

#include <boost/asio/co_spawn.hpp>

#include "runtime/net/testing.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

using testing::CapturedLog;
using testing::run_until;
using testing::TestNode;
using testing::wall_now;

class EnrolmentTest : public ::testing::Test {
 protected:
  EnrolmentTest() { serve_enrolment(*server.transport, authority); }

  TransportOptions logged() {
    TransportOptions options;
    options.log = log.logger;
    return options;
  }

  Result<Enrolment> join(const EnrolmentToken& shown, const KeyPair& key, NodeAttributes wish = {},
                         std::optional<std::uint16_t> port = {}) {
    std::optional<Result<Enrolment>> outcome;
    auto attempt = [&]() -> boost::asio::awaitable<void> {
      outcome = co_await enrol(io, "localhost", port.value_or(server.at().port), shown, key, wish, seconds(5));
    };
    boost::asio::co_spawn(io, attempt, [](std::exception_ptr error) { EXPECT_FALSE(error); });
    EXPECT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
    return outcome ? std::move(*outcome) : fail(ErrorCode::internal, "no outcome");
  }

  boost::asio::io_context io;
  TemporaryDirectory folder;
  CapturedLog log;
  OrgAuthority authority = OrgAuthority::create(folder.path() / "org", "Acme", wall_now()).value();
  TestNode server{io, enrol_directly(authority, folder.path() / "server", {}, wall_now()).value(), logged()};
  EnrolmentToken token = authority.make_token({.attributes = {{"eu", false}, {}, {}, {}}}, wall_now()).value();
};

TEST_F(EnrolmentTest, AJoinedNodeTalksToItsContact) {
  KeyPair key = load_or_make_node_key(folder.path() / "joiner").value();
  NodeAttributes wish;
  wish.owner.value = "ann";
  auto enrolment = join(token, key, wish);
  ASSERT_TRUE(enrolment) << enrolment.error().message;
  EXPECT_EQ(enrolment->contact_node, server.id());
  EXPECT_EQ(enrolment->contact.port, server.at().port);
  EXPECT_EQ(enrolment->node.attributes().region, (Attribute{"eu", true}));
  EXPECT_EQ(enrolment->node.attributes().owner, (Attribute{"ann", false}));
  ASSERT_TRUE(save_certificates(folder.path() / "joiner", enrolment->node, enrolment->organisation));
  TestNode joiner(io, load_identity(folder.path() / "joiner", wall_now()).value());
  joiner.transport->send(enrolment->contact_node, enrolment->contact, Bytes{'h', 'i'});
  ASSERT_TRUE(run_until(io, [&] { return server.heard("hi"); }));
  EXPECT_EQ(server.frames[0].first.node, key.node_id());
  EXPECT_EQ(server.transport->stats().enrolled, 1u);
}

TEST_F(EnrolmentTest, AUsedTokenAdmitsNoSecondNode) {
  KeyPair first = KeyPair::generate();
  ASSERT_TRUE(join(token, first));
  EXPECT_TRUE(join(token, first)) << "the same node may repeat it";
  auto second = join(token, KeyPair::generate());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::denied);
  EXPECT_NE(second.error().message.find("used up"), std::string::npos);
  EXPECT_TRUE(log.contains("refused to enrol 127.0.0.1:")) << log.text.str();
}

TEST_F(EnrolmentTest, AnExpiredOrInventedTokenIsRefused) {
  EnrolmentToken old = authority.make_token({.valid_for = hours(1), .attributes = {}}, wall_now() - hours(2)).value();
  auto late = join(old, KeyPair::generate());
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("expired on"), std::string::npos);
  EnrolmentToken invented = token;
  invented.secret[0] ^= 1;
  auto unknown = join(invented, KeyPair::generate());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::denied);
}

TEST_F(EnrolmentTest, FailedAttemptsAreLimitedEvenForAGoodTokenAfterwards) {
  EnrolmentToken invented = token;
  invented.secret[0] ^= 1;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(join(invented, KeyPair::generate()).error().code, ErrorCode::denied);
  EXPECT_EQ(join(token, KeyPair::generate()).error().code, ErrorCode::exhausted);
  EXPECT_EQ(server.transport->stats().enrolments_refused, 6u);
}

TEST_F(EnrolmentTest, AServerOfAnotherOrganisationLearnsNothing) {
  EnrolmentToken foreign = token;
  foreign.org = KeyPair::generate().org_id();
  auto refused = join(foreign, KeyPair::generate());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::denied);
  EXPECT_NE(refused.error().message.find("token's organisation"), std::string::npos) << refused.error().message;
  EXPECT_EQ(server.transport->stats().enrolments_refused, 0u);
}

TEST_F(EnrolmentTest, AnAgentWithoutAuthorityEnrolsNobody) {
  TestNode plain(io, enrol_directly(authority, folder.path() / "plain", {}, wall_now()).value());
  auto refused = join(token, KeyPair::generate(), {}, plain.at().port);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("abacus org init"), std::string::npos) << refused.error().message;
}

TEST_F(EnrolmentTest, NobodyThereIsUnavailable) {
  EXPECT_EQ(join(token, KeyPair::generate(), {}, std::uint16_t{1}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace abacus
