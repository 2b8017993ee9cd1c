// Two and more nodes in one loop: delivery, doubled connections, restarts, limits.
#include "runtime/net/transport.h"

#include <cmath>

#include "runtime/net/frame.h"
#include "runtime/net/testing.h"

namespace abacus {
namespace {

using namespace std::chrono_literals;
using testing::loopback;
using testing::Org;
using testing::run_for;
using testing::run_until;
using testing::TestNode;

class TransportTest : public ::testing::Test {
 protected:
  boost::asio::io_context io;
  Org org{"Acme"};
};

TEST_F(TransportTest, DeliversInOrderAndNamesThePeer) {
  NodeAttributes attributes;
  attributes.region = {"eu-north", true};
  attributes.owner = {"ann", false};
  TestNode a(io, org.node(attributes)), b(io, org.node());
  for (int i = 0; i < 1000; ++i) a.send(b, std::to_string(i));
  ASSERT_TRUE(run_until(io, [&] { return b.frames.size() == 1000; }));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(as_text(b.frames[i].second), std::to_string(i));
  EXPECT_EQ(b.frames[0].first.node, a.id());
  EXPECT_EQ(b.frames[0].first.org, org.key.org_id());
  EXPECT_EQ(b.frames[0].first.attributes, attributes);
  EXPECT_TRUE(a.losses.empty());
}

TEST_F(TransportTest, AnswersOverTheInboundConnection) {
  TestNode a(io, org.node()), b(io, org.node());
  a.send(b, "ask");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("ask"); }));
  b.transport->send(a.id(), Endpoint{}, Bytes{'y', 'e', 's'});
  ASSERT_TRUE(run_until(io, [&] { return a.heard("yes"); }));
  EXPECT_EQ(a.transport->stats().handshakes, 1u);
  EXPECT_EQ(b.transport->stats().handshakes, 1u);
}

TEST_F(TransportTest, BatchesWhatIsQueuedTogether) {
  TestNode a(io, org.node()), b(io, org.node());
  a.send(b, "first");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("first"); }));
  std::uint64_t writes = a.transport->stats().writes;
  for (int i = 0; i < 256; ++i) a.send(b, std::string(200, 'x'));
  ASSERT_TRUE(run_until(io, [&] { return b.frames.size() == 257; }));
  EXPECT_EQ(a.transport->stats().writes - writes, 1u);
  EXPECT_EQ(a.transport->stats().frames_out, 257u);
  EXPECT_LE(b.batches.size(), 6u);
}

TEST_F(TransportTest, CarriesTheLargestFrame) {
  TestNode a(io, org.node()), b(io, org.node());
  std::string large(kMaxControlFrameBytes, 'L');
  a.send(b, large);
  a.send(b, "after");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("after"); }));
  EXPECT_TRUE(b.heard(large));
}

TEST_F(TransportTest, RefusesToSendAnOversizedFrame) {
  TestNode a(io, org.node()), b(io, org.node());
  a.send(b, std::string(kMaxControlFrameBytes + 1, 'x'));
  ASSERT_TRUE(run_until(io, [&] { return !a.losses.empty(); }));
  EXPECT_EQ(a.losses[0].second.code, ErrorCode::invalid);
  EXPECT_EQ(a.transport->stats().dropped_frames, 1u);
}

TEST_F(TransportTest, LosesAtOnceWhatHasNoWay) {
  TestNode a(io, org.node()), b(io, org.node());
  a.transport->send(b.id(), Endpoint{}, Bytes{1});
  EXPECT_TRUE(a.losses.empty()) << "no handler may run inside send()";
  ASSERT_TRUE(run_until(io, [&] { return a.losses.size() == 1; }));
  EXPECT_EQ(a.losses[0].first, b.id());
  EXPECT_EQ(a.losses[0].second.code, ErrorCode::not_found);
}

TEST_F(TransportTest, SimultaneousDialsEndInOneConnectionWithoutLoss) {
  for (int round = 0; round < 10; ++round) {
    TestNode a(io, org.node()), b(io, org.node());
    for (int i = 0; i < 20; ++i) {
      a.send(b, "a" + std::to_string(i));
      b.send(a, "b" + std::to_string(i));
    }
    ASSERT_TRUE(run_until(io, [&] { return a.frames.size() >= 20 && b.frames.size() >= 20; }));
    ASSERT_TRUE(
        run_until(io, [&] { return a.transport->stats().connections == 1 && b.transport->stats().connections == 1; }));
    a.send(b, "last");
    b.send(a, "last");
    ASSERT_TRUE(run_until(io, [&] { return a.heard("last") && b.heard("last"); }));
    EXPECT_EQ(a.frames.size(), 21u);
    EXPECT_EQ(b.frames.size(), 21u);
    EXPECT_TRUE(a.losses.empty());
    EXPECT_TRUE(b.losses.empty());
  }
}

TEST_F(TransportTest, FailedDialIsToldAndBacksOff) {
  TestNode a(io, org.node());
  NodeIdentity nobody = org.node();
  std::uint16_t free_port;
  {
    TestNode b(io, org.node());
    free_port = b.at().port;
  }
  run_for(io, 20ms);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    a.transport->send(nobody.node_id(), loopback(free_port), Bytes{1});
    run_for(io, 5ms);
  }
  ASSERT_FALSE(a.losses.empty());
  EXPECT_EQ(a.losses[0].second.code, ErrorCode::unavailable);
  EXPECT_NE(a.losses[0].second.message.find("127.0.0.1:" + std::to_string(free_port)), std::string::npos);
  // After 50, 100, 200, ... ms: as many dials as the time has doublings, not a hundred.
  double elapsed_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LE(static_cast<double>(a.transport->stats().dials_failed), 2 + std::log2(1 + elapsed_ms / 50));
}

TEST_F(TransportTest, FindsAPeerAgainAfterItsRestart) {
  TestNode a(io, org.node()), b(io, org.node());
  a.send(b, "one");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("one"); }));
  TransportOptions same_port;
  same_port.listen = b.at();
  b.transport.reset();
  ASSERT_TRUE(run_until(io, [&] { return !a.transport->connected(b.id()); }));
  b.start(io, same_port);
  a.send(b, "two");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("two"); }));
  b.send(a, "three");
  ASSERT_TRUE(run_until(io, [&] { return a.heard("three"); }));
}

TEST_F(TransportTest, ABrokenConnectionIsToldOnce) {
  TestNode a(io, org.node()), b(io, org.node());
  a.send(b, "one");
  b.send(a, "one");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("one") && a.heard("one"); }));
  run_for(io, 100ms);
  b.transport.reset();
  ASSERT_TRUE(run_until(io, [&] { return !a.losses.empty(); }));
  run_for(io, 50ms);
  EXPECT_EQ(a.losses.size(), 1u);
  EXPECT_EQ(a.losses[0].first, b.id());
}

TEST_F(TransportTest, AWrongNodeAtTheEndpointGetsNothing) {
  TestNode a(io, org.node()), b(io, org.node());
  NodeIdentity other = org.node();
  a.transport->send(other.node_id(), b.at(), Bytes{1});
  ASSERT_TRUE(run_until(io, [&] { return !a.losses.empty(); }));
  EXPECT_NE(a.losses[0].second.message.find("answers node " + b.id().short_string()), std::string::npos);
  run_for(io, 50ms);
  EXPECT_TRUE(b.frames.empty());
}

TEST_F(TransportTest, AFullQueueDropsTheNewestAndCounts) {
  TransportOptions small;
  small.max_queue_bytes = 10 * (100 + kFrameHeaderBytes);
  TestNode a(io, org.node(), small), b(io, org.node());
  for (int i = 0; i < 25; ++i) a.send(b, std::string(97, 'x') + std::to_string(100 + i));
  EXPECT_EQ(a.transport->stats().dropped_frames, 15u);
  ASSERT_TRUE(run_until(io, [&] { return b.frames.size() == 10 && !a.losses.empty(); }));
  EXPECT_EQ(a.losses.size(), 1u) << "one report for each peer and turn";
  EXPECT_EQ(a.losses[0].second.code, ErrorCode::exhausted);
  EXPECT_TRUE(b.heard(std::string(97, 'x') + "109"));
  EXPECT_FALSE(b.heard(std::string(97, 'x') + "110"));
}

TEST_F(TransportTest, IdleConnectionsCloseUnlessKept) {
  TransportOptions hasty;
  hasty.idle_timeout = milliseconds(200);
  TestNode a(io, org.node(), hasty), b(io, org.node()), c(io, org.node());
  a.transport->keep(b.id());
  a.send(b, "one");
  a.send(c, "one");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("one") && c.heard("one"); }));
  ASSERT_TRUE(run_until(io, [&] { return !a.transport->connected(c.id()); }));
  ASSERT_TRUE(run_until(io, [&] { return !c.transport->connected(a.id()); }));
  EXPECT_TRUE(a.transport->connected(b.id()));
  EXPECT_TRUE(a.losses.empty());
  EXPECT_TRUE(c.losses.empty());
  a.transport->unkeep(b.id());
  ASSERT_TRUE(run_until(io, [&] { return !a.transport->connected(b.id()); }));
}

TEST_F(TransportTest, AConnectionEndsWithThePeersCertificate) {
  KeyPair key = KeyPair::generate();
  TestNode a(io, org.node()), b(io, {key, org.sign(key.public_key(), {}, hours(-1), seconds(3)), org.certificate});
  b.send(a, "while it is valid");
  ASSERT_TRUE(run_until(io, [&] { return a.heard("while it is valid"); }));
  ASSERT_TRUE(run_until(io, [&] { return !a.transport->connected(b.id()) && !a.losses.empty(); }));
  EXPECT_NE(a.losses[0].second.message.find("its certificate expired"), std::string::npos)
      << a.losses[0].second.message;
  b.send(a, "afterwards");
  run_for(io, 200ms);
  EXPECT_FALSE(a.heard("afterwards"));
}

TEST_F(TransportTest, ThePoolEvictsTheLeastRecentlyUsedButNotTheKept) {
  TransportOptions narrow;
  narrow.max_connections = 2;
  TestNode a(io, org.node(), narrow), b(io, org.node()), c(io, org.node()), d(io, org.node());
  a.transport->keep(b.id());
  a.send(b, "one");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("one"); }));
  a.send(c, "one");
  ASSERT_TRUE(run_until(io, [&] { return c.heard("one"); }));
  a.send(d, "one");
  ASSERT_TRUE(run_until(io, [&] { return d.heard("one"); }));
  EXPECT_TRUE(a.transport->connected(b.id()));
  EXPECT_FALSE(a.transport->connected(c.id()));
  EXPECT_TRUE(a.losses.empty());
  ASSERT_TRUE(run_until(io, [&] { return a.transport->stats().connections == 2; }));
}

TEST_F(TransportTest, AllKeptMeansNoRoom) {
  TransportOptions narrow;
  narrow.max_connections = 1;
  TestNode a(io, org.node(), narrow), b(io, org.node()), c(io, org.node());
  a.transport->keep(b.id());
  a.send(b, "one");
  ASSERT_TRUE(run_until(io, [&] { return b.heard("one"); }));
  a.send(c, "one");
  ASSERT_TRUE(run_until(io, [&] { return !a.losses.empty(); }));
  EXPECT_EQ(a.losses[0].second.code, ErrorCode::exhausted);
}

TEST_F(TransportTest, ATakenPortIsASentence) {
  TestNode a(io, org.node());
  TransportOptions taken;
  taken.listen = a.at();
  auto second = Transport::start(io, org.node(), taken, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::already_exists);
  EXPECT_NE(second.error().message.find(std::to_string(a.at().port)), std::string::npos);
  EXPECT_NE(second.error().message.find("--listen"), std::string::npos);
}

TEST_F(TransportTest, PairedOrganisationsTalkAndKnowWhoIsWhose) {
  Org other("Borealis");
  TransportOptions acme, borealis;
  acme.paired = {other.certificate};
  borealis.paired = {org.certificate};
  TestNode a(io, org.node(), acme), b(io, other.node(), borealis);
  a.send(b, "hello");
  b.send(a, "hello");
  ASSERT_TRUE(run_until(io, [&] { return a.heard("hello") && b.heard("hello"); }));
  EXPECT_EQ(a.frames[0].first.org, other.key.org_id());
  EXPECT_EQ(b.frames[0].first.org, org.key.org_id());
}

TEST_F(TransportTest, TheTransportMayEndInsideItsOwnHandler) {
  TestNode a(io, org.node());
  std::unique_ptr<Transport> b;
  bool called = false;
  TransportOptions options;
  options.listen = loopback();
  TransportHandlers handlers;
  handlers.on_frames = [&](const PeerIdentity&, std::vector<Bytes>) { called = true, b.reset(); };
  handlers.on_lost = [](const NodeId&, const Error&) {};
  NodeIdentity identity = org.node();
  b = Transport::start(io, identity, options, handlers).value();
  a.transport->send(identity.node_id(), b->local_endpoint(), Bytes{1});
  ASSERT_TRUE(run_until(io, [&] { return called; }));
  run_for(io, 50ms);
}

}  // namespace
}  // namespace abacus
