// Who does not belong gets nothing: raw OpenSSL and raw TCP against a transport, and what both sides say of it.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runtime/net/frame.h"
#include "runtime/net/openssl.h"
#include "runtime/net/testing.h"

namespace abacus {
namespace {

using namespace std::chrono_literals;
using testing::CapturedLog;
using testing::Org;
using testing::run_for;
using testing::run_until;
using testing::TestNode;
using testing::wall_now;

int connect_to(const Endpoint& at) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(at.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  timeval limit{5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

/// What a stranger brings to the handshake.
struct Disguise {
  std::optional<Certificate> certificate;
  std::optional<KeyPair> key;
  std::string alpn = "abacus/1";
  int max_version = TLS1_3_VERSION;
};

/// A plain OpenSSL client on a thread of its own: shakes hands, sends `payload`, reads until the end.
class RawClient {
 public:
  RawClient(const Endpoint& at, Disguise disguise, Bytes payload)
      : thread_(
            [this, at, disguise = std::move(disguise), payload = std::move(payload)] { run(at, disguise, payload); }) {}
  ~RawClient() { thread_.join(); }

  bool done() const { return done_; }
  int application_bytes() const { return bytes_; }

 private:
  void run(const Endpoint& at, const Disguise& disguise, const Bytes& payload) {
    SslCtxPtr ctx(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_max_proto_version(ctx.get(), disguise.max_version);
    if (disguise.certificate) SSL_CTX_use_certificate(ctx.get(), disguise.certificate->x509());
    if (disguise.key) SSL_CTX_use_PrivateKey(ctx.get(), to_openssl(*disguise.key).get());
    int fd = connect_to(at);
    SslPtr ssl(SSL_new(ctx.get()));
    std::string alpn = std::string(1, static_cast<char>(disguise.alpn.size())) + disguise.alpn;
    if (!disguise.alpn.empty()) {
      SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned>(alpn.size()));
    }
    SSL_set_fd(ssl.get(), fd);
    if (SSL_connect(ssl.get()) == 1) {
      SSL_write(ssl.get(), payload.data(), static_cast<int>(payload.size()));
      char buffer[4096];
      for (int got; (got = SSL_read(ssl.get(), buffer, sizeof buffer)) > 0;) bytes_ += got;
    }
    close(fd);
    done_ = true;
  }

  std::atomic<bool> done_{false};
  std::atomic<int> bytes_{0};
  std::thread thread_;
};

class StrangersTest : public ::testing::Test {
 protected:
  static TransportOptions logged(CapturedLog& into) {
    TransportOptions options;
    options.log = into.logger;
    options.handshake_timeout = seconds(3);
    return options;
  }

  /// Lets a raw client speak; the node answers whatever frame reaches it. Gives the bytes that the client got.
  int bytes_given_to(Disguise disguise) {
    Bytes hello;
    append_frame(hello, as_bytes("hello"));
    NodeId who = disguise.certificate ? disguise.certificate->node_id() : NodeId{};
    RawClient client(node.at(), std::move(disguise), hello);
    bool answered = false;
    run_until(io, [&] {
      if (node.heard("hello") && !answered) {
        node.transport->send(who, Endpoint{}, Bytes(10, 's'));
        answered = true;
      }
      if (node.transport && node.transport->stats().frames_out == 1) node.transport.reset();  // ends the client's wait
      return client.done();
    });
    EXPECT_TRUE(client.done());
    return client.application_bytes();
  }

  void expect_nothing_for(Disguise disguise, std::string_view logged_reason) {
    EXPECT_EQ(bytes_given_to(std::move(disguise)), 0);
    EXPECT_TRUE(node.frames.empty());
    ASSERT_TRUE(node.transport);
    EXPECT_EQ(node.transport->stats().rejected, 1u);
    EXPECT_EQ(node.transport->stats().handshakes, 0u);
    EXPECT_TRUE(log.contains(logged_reason)) << log.text.str();
  }

  boost::asio::io_context io;
  CapturedLog log;
  Org org{"Acme"};
  TestNode node{io, org.node(), logged(log)};
};

TEST_F(StrangersTest, AMemberIsAnswered) {  // what makes the zeros below mean something
  NodeIdentity member = org.node();
  EXPECT_EQ(bytes_given_to({member.certificate, member.key}), 14);
}

TEST_F(StrangersTest, AnotherOrganisationsNode) {
  Org other("Borealis");
  NodeIdentity stranger = other.node();
  expect_nothing_for({stranger.certificate, stranger.key},
                     "node " + stranger.node_id().short_string() +
                         ", which claims organisation 'Borealis': not signed by an organisation trusted here ('Acme' ");
}

TEST_F(StrangersTest, ASelfSignedCertificateWithTheOrganisationsName) {
  KeyPair key = KeyPair::generate();
  Certificate forged =
      sign_certificate(key, nullptr,
                       {key.public_key(), "Acme", false, {}, wall_now() - hours(1), wall_now() + hours(1)})
          .value();
  expect_nothing_for({forged, key}, "claims organisation 'Acme': not signed by");
}

TEST_F(StrangersTest, AForgedSignatureUnderTheRealIssuersName) {
  KeyPair key = KeyPair::generate();
  Certificate forged =
      sign_certificate(KeyPair::generate(), &org.certificate,
                       {key.public_key(), "Acme", false, {}, wall_now() - hours(1), wall_now() + hours(1)})
          .value();
  expect_nothing_for({forged, key}, "claims organisation 'Acme'");
}

TEST_F(StrangersTest, AMembersCertificateSignsNoOthers) {
  NodeIdentity member = org.node();
  KeyPair key = KeyPair::generate();
  Certificate child =
      sign_certificate(member.key, &member.certificate,
                       {key.public_key(), "Acme", false, {}, wall_now() - hours(1), wall_now() + hours(1)})
          .value();
  expect_nothing_for({child, key}, "not signed by an organisation trusted here");
}

TEST_F(StrangersTest, AnExpiredCertificate) {
  KeyPair key = KeyPair::generate();
  expect_nothing_for({org.sign(key.public_key(), {}, hours(-3), hours(-1)), key}, "its certificate expired on");
}

TEST_F(StrangersTest, ACertificateOfTheFuture) {
  KeyPair key = KeyPair::generate();
  expect_nothing_for({org.sign(key.public_key(), {}, hours(1), hours(2)), key}, "its certificate is valid only from");
}

TEST_F(StrangersTest, TheOrganisationsOwnCertificateIsNoNodes) {
  expect_nothing_for({org.certificate, org.key}, "refused 127.0.0.1:");
}

TEST_F(StrangersTest, NoCertificate) { expect_nothing_for({}, "no certificate was shown"); }

TEST_F(StrangersTest, EnrolmentWhereNoAuthorityLives) {
  Disguise joiner;
  joiner.alpn = "abacus-enrol/1";
  expect_nothing_for(joiner, "it offers abacus-enrol/1");
}

TEST_F(StrangersTest, AnUnknownProtocolVersion) {
  NodeIdentity member = org.node();
  expect_nothing_for({member.certificate, member.key, "abacus/9"}, "it offers abacus/9");
}

TEST_F(StrangersTest, NoProtocolName) {
  NodeIdentity member = org.node();
  expect_nothing_for({member.certificate, member.key, ""}, "named no protocol");
}

TEST_F(StrangersTest, OldTls) {
  NodeIdentity member = org.node();
  expect_nothing_for({member.certificate, member.key, "abacus/1", TLS1_2_VERSION}, "no protocol in common");
}

TEST_F(StrangersTest, PlainText) {
  int fd = connect_to(node.at());
  std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  ASSERT_TRUE(run_until(io, [&] { return node.transport->stats().rejected == 1; }));
  EXPECT_TRUE(log.contains("does not speak TLS")) << log.text.str();
  close(fd);
}

TEST_F(StrangersTest, SilenceIsCutOffAndDelaysNobody) {
  int silent = connect_to(node.at());
  TestNode member(io, org.node());
  member.send(node, "meanwhile");
  ASSERT_TRUE(run_until(
      io, [&] { return node.heard("meanwhile"); }, 900ms));
  ASSERT_TRUE(run_until(io, [&] { return node.transport->stats().rejected == 1; }));
  EXPECT_TRUE(log.contains("did not finish its TLS handshake within 3 s")) << log.text.str();
  run_for(io, 50ms);
  char byte;
  EXPECT_LE(recv(silent, &byte, 1, MSG_DONTWAIT), 0);
  close(silent);
}

TEST_F(StrangersTest, ManySilentOnesLeaveRoomForMembers) {
  TransportOptions narrow = logged(log);
  narrow.max_handshakes = 4;
  narrow.handshake_timeout = seconds(60);
  TestNode small(io, org.node(), narrow);
  std::vector<int> silent;
  for (int i = 0; i < 12; ++i) silent.push_back(connect_to(small.at()));
  run_for(io, 50ms);
  TestNode member(io, org.node());
  member.send(small, "hello");
  ASSERT_TRUE(run_until(io, [&] { return small.heard("hello"); }));
  for (int fd : silent) close(fd);
}

TEST_F(StrangersTest, AnOversizedFrameClosesOnlyItsConnection) {
  TestNode member(io, org.node());
  member.send(node, "before");
  ASSERT_TRUE(run_until(io, [&] { return node.heard("before"); }));
  NodeIdentity rude = org.node();
  RawClient client(node.at(), {rude.certificate, rude.key}, Bytes{0, 0, 0, 0x7f, 1, 2, 3});
  ASSERT_TRUE(run_until(io, [&] { return client.done(); }));
  ASSERT_TRUE(
      run_until(io, [&] { return log.contains("a frame announces 2130706432 bytes, the limit here is 1048576"); }));
  EXPECT_TRUE(log.contains(rude.node_id().short_string()));
  ASSERT_TRUE(run_until(io, [&] { return node.transport->stats().connections == 1; }));
  member.send(node, "after");
  ASSERT_TRUE(run_until(io, [&] { return node.heard("after"); }));
  EXPECT_TRUE(member.losses.empty());
}

TEST_F(StrangersTest, BothSidesSayWhoAndWhy) {
  Org other("Borealis");
  CapturedLog other_log;
  TestNode stranger(io, other.node(), logged(other_log));
  node.send(stranger, "secret");
  ASSERT_TRUE(run_until(io, [&] { return !node.losses.empty(); }));
  EXPECT_EQ(node.losses[0].second.code, ErrorCode::denied);
  EXPECT_NE(node.losses[0].second.message.find("claims organisation 'Borealis'"), std::string::npos);
  ASSERT_TRUE(run_until(io, [&] { return stranger.transport->stats().rejected == 1; }));
  EXPECT_TRUE(other_log.contains("does not accept this node's certificate")) << other_log.text.str();
  EXPECT_TRUE(stranger.frames.empty());
}

TEST_F(StrangersTest, APairingThatOnlyOneSideHasIsTold) {
  Org other("Borealis");
  TransportOptions half = logged(log);
  half.paired = {other.certificate};
  TestNode ours(io, org.node(), half);
  CapturedLog other_log;
  TestNode theirs(io, other.node(), logged(other_log));
  ours.send(theirs, "hello");
  ASSERT_TRUE(run_until(io, [&] { return !ours.losses.empty(); }));
  EXPECT_EQ(ours.losses[0].second.code, ErrorCode::denied);
  EXPECT_NE(ours.losses[0].second.message.find("does not trust organisation 'Acme'"), std::string::npos)
      << ours.losses[0].second.message;
  EXPECT_TRUE(other_log.contains("claims organisation 'Acme'")) << other_log.text.str();
  EXPECT_EQ(ours.transport->stats().dials_failed, 1u) << "a refusal backs off like a failed dial";
}

TEST_F(StrangersTest, ACopiedDataDirectoryIsRecognised) {
  TestNode copy(io, node.identity);
  TestNode member(io, org.node());
  copy.transport->send(member.id(), node.at(), Bytes{1});
  ASSERT_TRUE(run_until(io, [&] { return !copy.losses.empty(); }));
  ASSERT_TRUE(run_until(io, [&] { return node.transport->stats().rejected == 1; }));
  EXPECT_TRUE(log.contains("this node's own identity")) << log.text.str();
}

}  // namespace
}  // namespace abacus
