// Bugs planted below the shipped node, where its effects leave it.
#include "sim/host.h"

namespace abacus::sim {
namespace {

constexpr int kTooOften = 20;

template <class... Kinds>
bool is_one_of(const Message& message) {
  return (std::holds_alternative<Kinds>(message) || ...);
}

}  // namespace

bool Simulation::Host::tamper(Effect& effect) {
  auto* send = std::get_if<Send>(&effect);
  if (send == nullptr) return true;
  auto planted = [&](Sabotage how) { return simulation_.sabotaged(how); };
  Message& message = send->message;
  if (planted(Sabotage::awards_vanish) && is_one_of<Award>(message)) return false;
  if (planted(Sabotage::receipts_stay_open) && is_one_of<ReceiptAck>(message)) return false;
  if (planted(Sabotage::nobody_is_neighbour) &&
      is_one_of<Join, ForwardJoin, NeighbourRequest, NeighbourReply>(message)) {
    return false;
  }
  if (auto* receipt = std::get_if<Receipt>(&message); receipt && planted(Sabotage::receipts_are_dear)) {
    ++receipt->owed.micro;
  }
  if (auto* renew = std::get_if<Renew>(&message); renew && planted(Sabotage::prices_unnamed)) renew->price.reset();
  if (auto* award = std::get_if<Award>(&message); award && planted(Sabotage::twin_awards)) award_twice(*send, *award);
  if (planted(Sabotage::asks_everybody_often) && is_one_of<Rfq>(message)) {
    for (int i = 1; i < kTooOften; ++i) show_and_act(effect);
  }
  return true;
}

void Simulation::Host::award_twice(const Send& send, const Award& award) {
  Award twin = award;
  twin.lease.bytes[0] ^= 0xff;
  show_and_act(Send{send.to, send.trace, std::move(twin)});
}

}  // namespace abacus::sim
