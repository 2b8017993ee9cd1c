// Bulk requests between two nodes in one loop.
#include "runtime/net/bulk.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <stdexcept>

#include "runtime/net/frame.h"
#include "runtime/net/testing.h"

namespace abacus {
namespace {

using namespace std::chrono_literals;
using testing::Org;
using testing::run_for;
using testing::run_until;
using testing::TestNode;
namespace asio = boost::asio;

Bytes bytes_of(std::string_view text) { return {as_bytes(text).begin(), as_bytes(text).end()}; }

class BulkTest : public ::testing::Test {
 protected:
  BulkTest() {
    serve_bulk(*b.transport, [this](PeerIdentity peer, Bytes request) { return echo(peer, std::move(request)); });
  }

  /// Says the request back: "held" when the gate is opened, "mute" never; "throw" throws.
  asio::awaitable<Bytes> echo(PeerIdentity peer, Bytes request) {
    std::string_view text = as_text(request);
    if (text == "throw") throw std::runtime_error("on demand");
    asio::steady_timer& wait = text == "mute" ? never : gate;
    if (text == "held") ++held;
    if (text == "held" || text == "mute") co_await wait.async_wait(asio::as_tuple(asio::use_awaitable));
    if (text == "who") co_return bytes_of(peer.node.to_string());
    if (text == "large") co_return Bytes(kMaxBulkFrameBytes, 7);
    co_return request;
  }

  void open_gate(int after_held) {
    ASSERT_TRUE(run_until(io, [&] { return held == after_held; }));
    run_for(io, 5ms);
    gate.cancel();
  }

  void ask(std::string text, Duration timeout = seconds(5)) {
    std::size_t slot = answers.size();
    answers.emplace_back();
    asio::co_spawn(io, client->request(b.id(), b.at(), bytes_of(text), timeout),
                   [this, slot](std::exception_ptr, Result<Bytes> got) {
                     answers[slot] = std::move(got);
                     order.push_back(slot);
                   });
  }
  /// The answer, or what went wrong.
  std::string answer(std::size_t slot) const {
    const Result<Bytes>& got = *answers[slot];
    return got ? std::string(as_text(*got)) : std::string("error: ") + to_string(got.error().code);
  }
  bool all_answered() const { return order.size() == answers.size(); }

  asio::io_context io;
  asio::steady_timer gate{io, asio::steady_timer::time_point::max()};
  asio::steady_timer never{io, asio::steady_timer::time_point::max()};
  int held = 0;
  Org org{"Acme"};
  TestNode a{io, org.node()}, b{io, org.node()};
  std::unique_ptr<BulkClient> client = std::make_unique<BulkClient>(*a.transport);
  std::vector<std::optional<Result<Bytes>>> answers;
  std::vector<std::size_t> order;
};

TEST_F(BulkTest, AnswersAndNamesThePeer) {
  ask("who");
  ask("");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(0), a.id().to_string());
  EXPECT_EQ(answer(1), "");
}

TEST_F(BulkTest, SeveralRequestsShareAConnectionInOrder) {
  ask("held");
  for (int i = 0; i < 40; ++i) ask(std::to_string(i));
  open_gate(1);
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(answer(i + 1), std::to_string(i));
  EXPECT_EQ(a.transport->stats().handshakes, 1u);
  EXPECT_EQ(b.transport->stats().bulk_served, 41u);
}

TEST_F(BulkTest, CarriesTheLargestAnswerBesideControlFrames) {
  ask("large");
  a.send(b, "meanwhile");
  ASSERT_TRUE(run_until(io, [&] { return all_answered() && b.heard("meanwhile"); }));
  EXPECT_EQ(answer(0).size(), kMaxBulkFrameBytes);
}

TEST_F(BulkTest, RefusesAnOversizedRequest) {
  ask(std::string(kMaxBulkFrameBytes + 1, 'x'));
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(0), "error: invalid");
}

TEST_F(BulkTest, ALateAnswerDisturbsNoOtherRequest) {
  ask("held");
  ask("held", seconds(2));
  open_gate(1);
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(0), "held");
  EXPECT_EQ(answer(1), "error: timed_out");
  ask("next");
  open_gate(2);
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(2), "next");
  EXPECT_EQ(a.transport->stats().handshakes, 1u);
}

TEST_F(BulkTest, ASilentPeerFailsEveryRequestAndALaterOneDialsAnew) {
  ask("mute", milliseconds(50));
  ask("behind");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(0), "error: timed_out");
  EXPECT_EQ(answer(1), "error: timed_out") << "behind it: the connection is given up";
  ask("again");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(2), "again");
}

TEST_F(BulkTest, AFailingHandlerClosesOnlyThatConnection) {
  ask("throw");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(0), "error: unavailable");
  ask("fine");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(1), "fine");
}

TEST_F(BulkTest, NobodyThereIsAnError) {
  b.transport.reset();
  Endpoint gone = testing::loopback(1);
  std::optional<Result<Bytes>> outcome;
  asio::co_spawn(io, client->request(b.id(), gone, bytes_of("x"), seconds(2)),
                 [&](std::exception_ptr, Result<Bytes> got) { outcome = std::move(got); });
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  ASSERT_FALSE(*outcome);
  EXPECT_EQ(outcome->error().code, ErrorCode::unavailable);
}

TEST_F(BulkTest, AnotherNodeAtTheEndpointIsAnError) {
  std::optional<Result<Bytes>> outcome;
  asio::co_spawn(io, client->request(org.node().node_id(), b.at(), bytes_of("x"), seconds(2)),
                 [&](std::exception_ptr, Result<Bytes> got) { outcome = std::move(got); });
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  ASSERT_FALSE(*outcome);
  EXPECT_EQ(outcome->error().code, ErrorCode::not_found);
  EXPECT_EQ(b.transport->stats().bulk_served, 0u);
}

TEST_F(BulkTest, WhoServesNoBulkSaysSo) {
  std::optional<Result<Bytes>> outcome;
  BulkClient other(*b.transport);
  asio::co_spawn(io, other.request(a.id(), a.at(), bytes_of("x"), seconds(2)),
                 [&](std::exception_ptr, Result<Bytes> got) { outcome = std::move(got); });
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  ASSERT_FALSE(*outcome);
  EXPECT_EQ(outcome->error().code, ErrorCode::unsupported);
}

TEST_F(BulkTest, EndingTheServingTransportEndsItsConnections) {
  ask("mute");
  ask("behind");
  run_for(io, 50ms);
  b.transport.reset();
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(1), "error: unavailable");
}

TEST_F(BulkTest, EndingTheClientEndsItsRequests) {
  ask("mute");
  run_for(io, 50ms);
  client.reset();
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answer(0), "error: unavailable");
}

}  // namespace
}  // namespace abacus
