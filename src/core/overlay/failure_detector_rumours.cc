// What is believed of members, and what others say of them and of this node.
#include <algorithm>
#include <array>
#include <utility>

#include "core/overlay/failure_detector.h"

namespace abacus {
namespace {

constexpr std::size_t kDoubtersMax = 3;
// Lifeguard: ln(doubters + 1) / ln(3 + 1), in thousandths, of the way from the longest to the shortest time.
constexpr std::array<std::int64_t, kDoubtersMax + 1> kShortening = {0, 500, 792, 1'000};

}  // namespace

Duration FailureDetector::suspicion_time(std::size_t doubters) const {
  const Duration range = config_.suspicion_max - config_.suspicion_min;
  return config_.suspicion_max - range * kShortening[std::min(doubters, kDoubtersMax)] / 1'000;
}

void FailureDetector::answered(Member& member) {
  const NodeId node = member.contact.node;
  if (member.belief == Belief::suspect) {
    notices_.push_back({member.contact, false});
    returned_.push_back(member.contact);
  }
  member.belief = Belief::alive;
  member.doubters.clear();
  timers_.cancel({Timer::doubt_end, 0, node});
  timers_.cancel({Timer::linger, 0, node});
  drop_if_idle(node);
}

void FailureDetector::doubt(Member& member, MonoTime now) {
  if (member.belief != Belief::alive) return;
  member.belief = Belief::doubted;
  member.since = now;
  rumours_.add({member.contact.node, Liveness::suspect, member.incarnation});
  timers_.set({Timer::doubt_end, 0, member.contact.node}, now + suspicion_time(0));
}

void FailureDetector::confirm(Member& member, const NodeId& doubter) {
  auto& doubters = member.doubters;
  if (doubters.size() >= kDoubtersMax || std::find(doubters.begin(), doubters.end(), doubter) != doubters.end()) return;
  doubters.push_back(doubter);
  timers_.set({Timer::doubt_end, 0, member.contact.node}, member.since + suspicion_time(doubters.size()));
}

void FailureDetector::suspect(Member& member, MonoTime now) {
  if (member.belief == Belief::suspect) return;
  member.belief = Belief::suspect;
  member.since = now;
  member.pause = config_.lingering_probe;
  member.doubters.clear();
  timers_.cancel({Timer::doubt_end, 0, member.contact.node});
  timers_.set({Timer::linger, 0, member.contact.node}, now + member.pause);
  notices_.push_back({member.contact, true});
  if (member.neighbour) unreachable_.push_back(member.contact);
}

void FailureDetector::still_silent(Member& member, MonoTime now) {
  const NodeId node = member.contact.node;
  if (!is_member(member) && now >= member.since + config_.linger) {
    member.belief = Belief::alive;  // Forgotten: unknown nodes are not suspect.
    return drop_if_idle(node);
  }
  const Duration longest = member.counterparty ? config_.counterparty_probe_max : config_.lingering_probe_max;
  member.pause = std::min(member.pause * 2, longest);
  timers_.set({Timer::linger, 0, node}, now + member.pause + Duration{prng_.between(0, member.pause.ns / 4)});
  if (member.neighbour) unreachable_.push_back(member.contact);
}

void FailureDetector::left(const NodeId& node, MonoTime now) {
  Member* member = find(node);
  if (member == nullptr) return;
  rumours_.add({node, Liveness::left, member->incarnation});
  suspect(*member, now);
}

std::vector<Rumour> FailureDetector::rumours_for(const NodeId& node) {
  std::vector<Rumour> rumours = rumours_.take();
  const Member* member = find(node);
  if (member == nullptr || member->belief == Belief::alive) return rumours;
  // Whoever is doubted must hear of it, or it cannot refute.
  std::erase_if(rumours, [&](const Rumour& rumour) { return rumour.node == node; });
  rumours.insert(rumours.begin(), Rumour{node, Liveness::suspect, member->incarnation});
  return rumours;
}

void FailureDetector::on(const Contact& from, const Ping& ping, Now now, Effects& effects) {
  hear(from.node, ping.rumours, now, effects);
  effects.send(from, {}, PingAck{ping.probe, incarnation_, rumours_for(from.node)});
}

void FailureDetector::hear(const NodeId& from, const std::vector<Rumour>& rumours, Now now, Effects& effects) {
  for (const Rumour& rumour : rumours) {
    if (rumour.node == self_) {
      hear_of_self(rumour);
    } else if (Member* member = find(rumour.node)) {
      hear_of(*member, from, rumour, now, effects);
    }
  }
}

void FailureDetector::hear_of_self(const Rumour& rumour) {
  if (rumour.state == Liveness::alive || rumour.incarnation < incarnation_ || rumour.incarnation == UINT64_MAX) return;
  incarnation_ = rumour.incarnation + 1;
  if (health_ < config_.health_max) ++health_;
  rumours_.add({self_, Liveness::alive, incarnation_});
}

void FailureDetector::hear_of(Member& member, const NodeId& from, const Rumour& rumour, Now now, Effects& effects) {
  if (rumour.state == Liveness::alive) {
    if (rumour.incarnation <= member.incarnation) return;
    member.incarnation = rumour.incarnation;
    if (member.belief == Belief::doubted)
      answered(member);
    else if (member.belief == Belief::suspect)
      probe_at_once(member, now, effects);
    return;
  }
  if (rumour.incarnation < member.incarnation || from == member.contact.node) return;
  if (member.belief == Belief::doubted) confirm(member, from);
  if (member.belief == Belief::alive) probe_at_once(member, now, effects);
}

void FailureDetector::on(const Contact& from, const PingRequest& request, Now now, Effects& effects) {
  const bool about_self = request.target.node == self_;
  if (about_self || request.target.node.empty() || relays_.size() >= config_.relays_max) {
    effects.send(from, {}, PingRelay{request.probe, request.target.node, about_self});
    return;
  }
  const std::uint32_t number = ++last_probe_;
  relays_.insert_or_assign(number, Relay{from, request.probe, request.target.node});
  // The nack must be back before the asker gives up.
  timers_.set({Timer::relay_end, number, {}}, now.mono + config_.timeout);
  effects.send(request.target, {}, Ping{number, rumours_for(request.target.node)});
}

void FailureDetector::end_relay(std::uint32_t number, bool reached, Effects& effects) {
  auto found = relays_.find(number);
  if (found == relays_.end()) return;
  const Relay relay = found->second;
  relays_.erase(found);
  timers_.cancel({Timer::relay_end, number, {}});
  effects.send(relay.asker, {}, PingRelay{relay.asked_probe, relay.target, reached});
}

}  // namespace abacus
