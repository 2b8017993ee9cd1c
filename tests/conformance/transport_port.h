// The transport as core sees it: the effect Send, and the events MessageReceived and PeerLost.
//
// A message arrives as it was sent or not at all, at the node that it is for, with the sender's node and organisation,
// which it cannot choose, and no word about where the sender listens. It may be lost, repeated, overtaken and late, in
// a later life of its receiver too. While both sides run and the network between them holds, it arrives. A node whose
// agent does not run is reported to who sends to it, by PeerLost, as is a message above limits::kMessageBytes, which
// does not leave. PeerLost is a hint: there may be several for one mishap, and none for a message that the network
// swallowed. No peer's trouble holds up what is for another.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "machines.h"

namespace abacus::conformance {

/// Numbered letters between machines.
class TransportPort {
 public:
  explicit TransportPort(std::unique_ptr<Machines> machines) : machines_(std::move(machines)) {}

  Machines& machines() { return *machines_; }

  void send(std::size_t from, const Contact& to, Message message) {
    machines_->at(from).ask(Send{to, {}, std::move(message)});
  }
  void send(std::size_t from, std::size_t to, std::uint32_t number) {
    send(from, machines_->contact(to), Ping{number, {}});
  }

  /// As often as it arrived in this life of the machine.
  std::vector<MessageReceived> received(std::size_t at, std::uint32_t number) {
    std::vector<MessageReceived> found = machines_->at(at).heard<MessageReceived>();
    std::erase_if(found, [&](const MessageReceived& event) {
      const Ping* ping = std::get_if<Ping>(&event.message);
      return ping == nullptr || ping->probe != number;
    });
    return found;
  }
  bool arrives(std::size_t at, std::uint32_t number) {
    return machines_->until([&] { return !received(at, number).empty(); });
  }

  std::size_t times_lost(std::size_t at, const NodeId& peer) {
    auto lost = machines_->at(at).heard<PeerLost>();
    return static_cast<std::size_t>(
        std::count_if(lost.begin(), lost.end(), [&](const PeerLost& event) { return event.peer == peer; }));
  }
  bool is_told_lost(std::size_t at, const NodeId& peer) {
    return machines_->until([&] { return times_lost(at, peer) > 0; });
  }

 private:
  std::unique_ptr<Machines> machines_;
};

}  // namespace abacus::conformance
