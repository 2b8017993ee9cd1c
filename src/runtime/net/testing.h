// What the tests of this folder share: organisations and nodes made in memory, and a loop to run until something holds.
#pragma once

#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <ctime>
#include <sstream>

#include "runtime/net/transport.h"

namespace abacus::testing {

inline WallTime wall_now() { return {static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000}; }

/// An organisation that signs whatever a test asks for.
struct Org {
  KeyPair key = KeyPair::generate();
  Certificate certificate;

  explicit Org(std::string name)
      : certificate(sign_certificate(
                        key, nullptr,
                        {key.public_key(), std::move(name), true, {}, wall_now() - hours(48), wall_now() + hours(48)})
                        .value()) {}

  Certificate sign(const Ed25519Key& subject, const NodeAttributes& attributes = {}, Duration from = hours(-1),
                   Duration until = hours(1)) const {
    return sign_certificate(
               key, &certificate,
               {subject, certificate.organisation_name(), false, attributes, wall_now() + from, wall_now() + until})
        .value();
  }

  NodeIdentity node(const NodeAttributes& attributes = {}) const {
    KeyPair node_key = KeyPair::generate();
    return {node_key, sign(node_key.public_key(), attributes), certificate};
  }
};

inline Endpoint loopback(std::uint16_t port = 0) {
  Endpoint endpoint = Endpoint::parse("127.0.0.1:1").value();
  endpoint.port = port;
  return endpoint;
}

/// Runs the loop until `done` holds; false after `limit`.
template <class Done>
bool run_until(boost::asio::io_context& io, Done done, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  auto end = std::chrono::steady_clock::now() + limit;
  while (!done() && std::chrono::steady_clock::now() < end) {
    io.restart();
    io.run_for(std::chrono::milliseconds(5));
  }
  return done();
}

inline void run_for(boost::asio::io_context& io, std::chrono::milliseconds time) {
  run_until(
      io, [] { return false; }, time);
}

/// One node with its transport, remembering everything that it is told.
struct TestNode {
  NodeIdentity identity;
  std::vector<std::pair<PeerIdentity, Bytes>> frames;
  std::vector<std::size_t> batches;
  std::vector<std::pair<NodeId, Error>> losses;
  std::unique_ptr<Transport> transport;

  TestNode(boost::asio::io_context& io, NodeIdentity who, TransportOptions options = {}) : identity(std::move(who)) {
    start(io, std::move(options));
  }

  void start(boost::asio::io_context& io, TransportOptions options = {}) {
    if (!options.listen.known()) options.listen = loopback();
    TransportHandlers handlers;
    handlers.on_frames = [this](const PeerIdentity& peer, std::vector<Bytes> got) {
      batches.push_back(got.size());
      for (Bytes& frame : got) frames.emplace_back(peer, std::move(frame));
    };
    handlers.on_lost = [this](const NodeId& peer, const Error& error) { losses.emplace_back(peer, error); };
    auto started = Transport::start(io, identity, std::move(options), std::move(handlers));
    ASSERT_TRUE(started) << started.error().message;
    transport = std::move(*started);
  }

  NodeId id() const { return identity.node_id(); }
  Endpoint at() const { return transport->local_endpoint(); }
  void send(const TestNode& to, std::string_view text) {
    BytesView bytes = as_bytes(text);
    transport->send(to.id(), to.at(), Bytes(bytes.begin(), bytes.end()));
  }
  bool heard(std::string_view text) const {
    for (const auto& [peer, frame] : frames) {
      if (as_text(frame) == text) return true;
    }
    return false;
  }
};

/// A log that a test can read.
struct CapturedLog {
  std::ostringstream text;
  std::shared_ptr<spdlog::logger> logger =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_st>(text));

  bool contains(std::string_view words) const { return text.str().find(words) != std::string::npos; }
};

}  // namespace abacus::testing
