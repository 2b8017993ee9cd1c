// Bulk requests between two nodes in one loop.
#include "runtime/net/bulk.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
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

/// Says the request back, after a pause when it is "slow", never when it is "mute"; "throw" throws.
asio::awaitable<Bytes> echo(PeerIdentity peer, Bytes request) {
  auto executor = co_await asio::this_coro::executor;
  std::string_view text = as_text(request);
  if (text == "throw") throw std::runtime_error("on demand");
  if (text == "slow" || text == "mute") {
    asio::steady_timer timer(executor, text == "slow" ? 100ms : 100s);
    co_await timer.async_wait(asio::use_awaitable);
  }
  if (text == "who") co_return bytes_of(peer.node.to_string());
  if (text == "large") co_return Bytes(kMaxBulkFrameBytes, 7);
  co_return request;
}

class BulkTest : public ::testing::Test {
 protected:
  BulkTest() { serve_bulk(*b.transport, echo); }

  void ask(std::string text, Duration timeout = seconds(5)) {
    std::size_t slot = answers.size();
    answers.emplace_back();
    asio::co_spawn(io, client->request(b.id(), b.at(), bytes_of(text), timeout),
                   [this, slot](std::exception_ptr, Result<Bytes> answer) {
                     answers[slot] = std::move(answer);
                     order.push_back(slot);
                   });
  }
  bool all_answered() const { return order.size() == answers.size(); }

  asio::io_context io;
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
  EXPECT_EQ(as_text(**answers[0]), a.id().to_string());
  EXPECT_TRUE((*answers[1])->empty());
}

TEST_F(BulkTest, SeveralRequestsShareAConnectionInOrder) {
  ask("slow");
  for (int i = 0; i < 40; ++i) ask(std::to_string(i));
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(as_text(**answers[i + 1]), std::to_string(i));
  EXPECT_EQ(a.transport->stats().handshakes, 1u);
  EXPECT_EQ(b.transport->stats().bulk_served, 41u);
}

TEST_F(BulkTest, CarriesTheLargestAnswerBesideControlFrames) {
  ask("large");
  a.send(b, "meanwhile");
  ASSERT_TRUE(run_until(io, [&] { return all_answered() && b.heard("meanwhile"); }));
  EXPECT_EQ((*answers[0])->size(), kMaxBulkFrameBytes);
}

TEST_F(BulkTest, RefusesAnOversizedRequest) {
  ask(std::string(kMaxBulkFrameBytes + 1, 'x'));
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answers[0]->error().code, ErrorCode::invalid);
}

TEST_F(BulkTest, ALateAnswerDisturbsNoOtherRequest) {
  ask("slow", milliseconds(150));
  ask("slow", milliseconds(150));  // its answer comes at 200 ms
  ask("next");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_TRUE(*answers[0]);
  EXPECT_EQ(answers[1]->error().code, ErrorCode::timed_out);
  EXPECT_EQ(as_text(**answers[2]), "next");
}

TEST_F(BulkTest, ASilentPeerFailsEveryRequestAndALaterOneDialsAnew) {
  ask("mute", milliseconds(50));
  ask("behind");
  ASSERT_TRUE(run_until(
      io, [&] { return all_answered(); }, 2000ms));
  EXPECT_EQ(answers[0]->error().code, ErrorCode::timed_out);
  EXPECT_FALSE(*answers[1]);
  ask("again");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(as_text(**answers[2]), "again");
}

TEST_F(BulkTest, AFailingHandlerClosesOnlyThatConnection) {
  ask("throw");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(answers[0]->error().code, ErrorCode::unavailable);
  ask("fine");
  ASSERT_TRUE(run_until(io, [&] { return all_answered(); }));
  EXPECT_EQ(as_text(**answers[1]), "fine");
}

TEST_F(BulkTest, NobodyThereIsAnError) {
  b.transport.reset();
  Endpoint gone = testing::loopback(1);
  std::optional<Result<Bytes>> answer;
  asio::co_spawn(io, client->request(b.id(), gone, bytes_of("x"), seconds(2)),
                 [&](std::exception_ptr, Result<Bytes> got) { answer = std::move(got); });
  ASSERT_TRUE(run_until(io, [&] { return answer.has_value(); }));
  EXPECT_EQ(answer->error().code, ErrorCode::unavailable);
}

TEST_F(BulkTest, AnotherNodeAtTheEndpointIsAnError) {
  std::optional<Result<Bytes>> answer;
  asio::co_spawn(io, client->request(org.node().node_id(), b.at(), bytes_of("x"), seconds(2)),
                 [&](std::exception_ptr, Result<Bytes> got) { answer = std::move(got); });
  ASSERT_TRUE(run_until(io, [&] { return answer.has_value(); }));
  EXPECT_EQ(answer->error().code, ErrorCode::not_found);
  EXPECT_EQ(b.transport->stats().bulk_served, 0u);
}

TEST_F(BulkTest, WhoServesNoBulkSaysSo) {
  std::optional<Result<Bytes>> answer;
  BulkClient other(*b.transport);
  asio::co_spawn(io, other.request(a.id(), a.at(), bytes_of("x"), seconds(2)),
                 [&](std::exception_ptr, Result<Bytes> got) { answer = std::move(got); });
  ASSERT_TRUE(run_until(io, [&] { return answer.has_value(); }));
  EXPECT_EQ(answer->error().code, ErrorCode::unsupported);
}

TEST_F(BulkTest, EndingTheServingTransportEndsItsConnections) {
  ask("mute");
  ask("behind");
  run_for(io, 50ms);
  b.transport.reset();
  ASSERT_TRUE(run_until(
      io, [&] { return all_answered(); }, 1000ms));
  EXPECT_EQ(answers[1]->error().code, ErrorCode::unavailable);
}

TEST_F(BulkTest, EndingTheClientEndsItsRequests) {
  ask("mute");
  run_for(io, 50ms);
  client.reset();
  ASSERT_TRUE(run_until(
      io, [&] { return all_answered(); }, 1000ms));
  EXPECT_EQ(answers[0]->error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace abacus
