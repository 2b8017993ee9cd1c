// What a transport may do to messages and never does: the simulated network and TLS over TCP.
#include "protocol/codec.h"
#include "protocol/limits.h"
#include "transport_port.h"

namespace abacus::conformance {
namespace {

class TransportConformance : public ::testing::TestWithParam<Realm> {
 protected:
  TransportPort transport{GetParam().make(3)};
  Machines& machines = transport.machines();
};

INSTANTIATE_TEST_SUITE_P(Port, TransportConformance,
                         ::testing::Values(Realm{"Simulated", simulated_machines}, Realm{"Tls", real_machines}),
                         name_of_realm);

/// A message that takes exactly so many bytes on the wire.
Message message_of(std::size_t bytes) {
  constexpr std::size_t kWordBytes = 100'000;
  Award award;
  award.slots = 1;
  award.work.command.assign(bytes / kWordBytes + 1, "x");
  auto size = [&] { return encode_envelope({award, {}}).size(); };
  for (std::string& word : award.work.command) word.append(std::min(kWordBytes, bytes - size()), 'x');
  while (size() > bytes) award.work.command.back().pop_back();  // The length before a long text takes a few bytes.
  EXPECT_EQ(size(), bytes);
  return award;
}

TEST_P(TransportConformance, AMessageArrivesWholeFromWhoSentIt) {
  Award award = std::get<Award>(message_of(10'000));
  TraceContext trace{{{1, 2, 3}}, {{4, 5}}};
  machines.at(0).ask(Send{machines.contact(1), trace, award});
  auto heard = [&] { return machines.at(1).heard<MessageReceived>(); };
  ASSERT_TRUE(machines.until([&] { return !heard().empty(); }));
  for (const MessageReceived& event : heard()) {
    EXPECT_EQ(event.from.node, machines.contact(0).node);
    EXPECT_FALSE(event.from.endpoint.known()) << "a connection does not say where its sender listens";
    EXPECT_EQ(event.organisation, machines.organisation());
    EXPECT_EQ(encode_envelope({event.message, event.trace}), encode_envelope({award, trace}));
  }
  EXPECT_TRUE(machines.at(2).heard<MessageReceived>().empty()) << "it was for another";
}

TEST_P(TransportConformance, EachOfManyMessagesArrives) {
  for (std::uint32_t i = 0; i < 500; ++i) transport.send(0, 1, i);
  for (std::uint32_t i = 0; i < 500; ++i) ASSERT_TRUE(transport.arrives(1, i)) << i;
  EXPECT_EQ(transport.times_lost(0, machines.contact(1).node), 0u);
}

TEST_P(TransportConformance, AnAnswerNeedsNoEndpoint) {
  transport.send(0, 1, 1);
  ASSERT_TRUE(transport.arrives(1, 1));
  transport.send(1, transport.received(1, 1).front().from, Ping{2, {}});
  EXPECT_TRUE(transport.arrives(0, 2));
}

TEST_P(TransportConformance, BothMaySpeakFirst) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    transport.send(0, 1, i);
    transport.send(1, 0, i);
  }
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(transport.arrives(0, i) && transport.arrives(1, i)) << i;
}

TEST_P(TransportConformance, TheLargestMessageArrives) {
  transport.send(0, machines.contact(1), message_of(limits::kMessageBytes));
  EXPECT_TRUE(machines.until([&] { return !machines.at(1).heard<MessageReceived>().empty(); }));
}

TEST_P(TransportConformance, ATooLargeMessageIsRefusedAndHarmsNoOther) {
  transport.send(0, machines.contact(1), message_of(limits::kMessageBytes + 1));
  EXPECT_TRUE(transport.is_told_lost(0, machines.contact(1).node));
  transport.send(0, 1, 1);
  EXPECT_TRUE(transport.arrives(1, 1));
  for (const MessageReceived& event : machines.at(1).heard<MessageReceived>()) {
    EXPECT_TRUE(std::holds_alternative<Ping>(event.message));
  }
}

TEST_P(TransportConformance, ANodeThatDoesNotRunIsReportedAndHoldsUpNoOther) {
  machines.stop(1);
  transport.send(0, 1, 1);
  transport.send(0, 2, 2);
  EXPECT_TRUE(transport.arrives(2, 2));
  EXPECT_TRUE(transport.is_told_lost(0, machines.contact(1).node));
  EXPECT_EQ(transport.times_lost(0, machines.contact(2).node), 0u);
}

TEST_P(TransportConformance, ANodeNobodyHasIsReported) {
  Contact nobody = machines.contact(1);
  nobody.node.bytes.fill(7);
  transport.send(0, nobody, Ping{1, {}});
  EXPECT_TRUE(transport.is_told_lost(0, nobody.node));
  EXPECT_TRUE(transport.received(1, 1).empty()) << "whoever listens there is not who it is for";
}

TEST_P(TransportConformance, WithoutEndpointAndConnectionItIsReported) {
  transport.send(0, Contact{machines.contact(1).node, {}}, Ping{1, {}});
  EXPECT_TRUE(transport.is_told_lost(0, machines.contact(1).node));
  EXPECT_TRUE(transport.received(1, 1).empty());
}

TEST_P(TransportConformance, ARestartForgetsConnections) {
  transport.send(0, 1, 1);
  ASSERT_TRUE(transport.arrives(1, 1));
  machines.stop(1);
  machines.start(1);
  transport.send(1, Contact{machines.contact(0).node, {}}, Ping{2, {}});
  EXPECT_TRUE(transport.is_told_lost(1, machines.contact(0).node));
}

TEST_P(TransportConformance, WhoIsConnectedIsToldWhenAPeerDies) {
  transport.send(0, 1, 1);
  ASSERT_TRUE(transport.arrives(1, 1));
  transport.send(1, 0, 2);
  ASSERT_TRUE(transport.arrives(0, 2));
  machines.stop(1);
  EXPECT_TRUE(transport.is_told_lost(0, machines.contact(1).node));
  EXPECT_EQ(transport.times_lost(2, machines.contact(1).node), 0u);
}

TEST_P(TransportConformance, AfterARestartOfTheReceiverMessagesFlowAgain) {
  transport.send(0, 1, 1);
  ASSERT_TRUE(transport.arrives(1, 1));
  machines.stop(1);
  machines.a_while();
  machines.start(1);
  std::uint32_t number = 2;
  EXPECT_TRUE(machines.until([&] {
    transport.send(0, 1, number++);  // What is sent into a broken connection may be lost.
    for (std::uint32_t i = 2; i < number; ++i) {
      if (!transport.received(1, i).empty()) return true;
    }
    return false;
  }));
  transport.send(1, 0, 1);
  EXPECT_TRUE(transport.arrives(0, 1));
}

TEST_P(TransportConformance, AfterARestartOfTheSenderMessagesFlowAgain) {
  transport.send(0, 1, 1);
  ASSERT_TRUE(transport.arrives(1, 1));
  machines.stop(0);
  machines.start(0);
  transport.send(0, 1, 2);
  EXPECT_TRUE(transport.arrives(1, 2));
}

TEST(SimulatedTransport, RepeatsAndReordersSoThatCoreMustLiveWithBoth) {
  TransportPort transport{simulated_machines(2)};
  constexpr std::uint32_t kCount = 200;
  for (std::uint32_t i = 0; i < kCount; ++i) transport.send(0, 1, i);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_TRUE(transport.arrives(1, i));
  std::vector<std::uint32_t> order;
  for (const auto& event : transport.machines().at(1).heard<MessageReceived>()) {
    order.push_back(std::get<Ping>(event.message).probe);
  }
  EXPECT_GT(order.size(), kCount);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

}  // namespace
}  // namespace abacus::conformance
