// What changes the views from outside: messages and news of nodes. Upkeep by timers is in views_upkeep.cc.
#include "core/overlay/views.h"

#include <algorithm>
#include <utility>

namespace abacus {
namespace {

auto named(const NodeId& node) {
  return [&node](const Contact& contact) { return contact.node == node; };
}

Contact* find_in(std::vector<Contact>& contacts, const NodeId& node) {
  auto found = std::find_if(contacts.begin(), contacts.end(), named(node));
  return found == contacts.end() ? nullptr : &*found;
}

/// Who speaks, reachable if either side of the conversation knows how.
Contact speaker(const Contact& from, const Contact& claimed) {
  return {from.node, from.endpoint.known() ? from.endpoint : claimed.endpoint};
}

}  // namespace

Views::Views(const ViewsConfig& config, const Contact& self, Prng prng)
    : config_(config),
      self_(self),
      prng_(prng),
      fill_pause_(config.refill),
      join_pause_(config.join_retry),
      mix_pause_(config.mix),
      reach_out_pause_(config.reach_out) {}

bool Views::is_self(const Contact& contact) const {
  return contact.node == self_.node || (contact.node.empty() && contact.endpoint == self_.endpoint);
}

bool Views::is_neighbour(const NodeId& node) const { return std::any_of(active_.begin(), active_.end(), named(node)); }

std::optional<Contact> Views::random_neighbour() {
  if (active_.empty()) return std::nullopt;
  return active_[prng_.below(active_.size())];
}

bool Views::take_changed() { return std::exchange(changed_, false); }
std::vector<Contact> Views::take_reach_outs() { return std::exchange(reach_outs_, {}); }

void Views::add_neighbour(const Contact& contact, MonoTime now, Effects& effects) {
  if (is_self(contact) || is_neighbour(contact.node)) return;
  if (active_.size() >= config_.active_max) drop_random_neighbour(now, effects);
  std::erase_if(passive_, named(contact.node));
  std::erase_if(lost_, named(contact.node));
  refused_.erase(contact.node);
  active_.push_back(contact);
  changed_ = true;
  fill_pause_ = config_.refill;
  join_pause_ = config_.join_retry;
  timers_.cancel({Timer::join, {}});
}

void Views::drop_random_neighbour(MonoTime now, Effects& effects) {
  const std::size_t position = prng_.below(active_.size());
  const Contact dropped = active_[position];
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(position));
  changed_ = true;
  learn(dropped, now);
  effects.send(dropped, {}, Disconnect{false});
}

bool Views::remove_neighbour(const NodeId& node, MonoTime now) {
  if (std::erase_if(active_, named(node)) == 0) return false;
  changed_ = true;
  wish_to_fill(now);
  if (active_.empty()) timers_.set({Timer::join, {}}, about(now, join_pause_));
  return true;
}

void Views::on(const Contact& from, const Join& join, Now now, Effects& effects) {
  if (join.joiner.node != from.node || is_self(from)) return;
  const Contact joiner = speaker(from, join.joiner);
  if (!is_neighbour(joiner.node)) {
    add_neighbour(joiner, now.mono, effects);
    for (const Contact& neighbour : active_) {
      if (neighbour.node != joiner.node) effects.send(neighbour, {}, ForwardJoin{joiner, config_.active_walk});
    }
  }
  effects.send(joiner, {}, NeighbourReply{true});
}

void Views::on(const Contact& from, const ForwardJoin& forward, Now now, Effects& effects) {
  if (is_self(forward.joiner) || forward.joiner.node.empty() || !forward.joiner.endpoint.known()) return;
  const std::uint8_t hops_left = std::min(forward.hops_left, config_.active_walk);
  if (hops_left == config_.passive_walk) learn(forward.joiner, now.mono);
  std::vector<Contact> next;
  for (const Contact& neighbour : active_) {
    if (neighbour.node != from.node && neighbour.node != forward.joiner.node) next.push_back(neighbour);
  }
  if (hops_left == 0 || next.empty()) return end_walk(forward, now.mono, effects);
  const Contact& to = next[prng_.below(next.size())];
  effects.send(to, {}, ForwardJoin{forward.joiner, static_cast<std::uint8_t>(hops_left - 1)});
}

void Views::end_walk(const ForwardJoin& forward, MonoTime now, Effects& effects) {
  if (is_neighbour(forward.joiner.node)) return;
  // Places above the target are for those who look for one; walks must not use them up.
  if (active_.size() < config_.active_target)
    ask(forward.joiner, false, now, effects);
  else
    learn(forward.joiner, now);
}

void Views::on(const Contact& from, const NeighbourRequest& request, Now now, Effects& effects) {
  if (request.asker.node != from.node || is_self(from)) return;
  const Contact asker = speaker(from, request.asker);
  const bool accepted = is_neighbour(asker.node) || request.urgent || active_.size() < config_.active_max;
  if (accepted)
    add_neighbour(asker, now.mono, effects);
  else
    learn(asker, now.mono);
  effects.send(asker, {}, NeighbourReply{accepted});
}

void Views::on(const Contact& from, const NeighbourReply& reply, Now now, Effects& effects) {
  Contact peer = from;
  if (auto asked = asked_.find(from.node); asked != asked_.end()) {
    peer = speaker(from, asked->second);
    asked_.erase(asked);
    timers_.cancel({Timer::reply, from.node});
  }
  if (!reply.accepted) return refused(peer, now.mono);
  if (is_neighbour(peer.node)) return;
  // More said yes than were needed, and there is no room for this one.
  if (active_.size() >= config_.active_max) return effects.send(peer, {}, Disconnect{false});
  add_neighbour(peer, now.mono, effects);
}

void Views::refused(const Contact& from, MonoTime now) {
  refused_[from.node] = now;
  if (refused_.size() > config_.passive_max) {
    refused_.erase(std::min_element(refused_.begin(), refused_.end(),
                                    [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  if (remove_neighbour(from.node, now)) learn(from, now);  // The link was one-sided.
  wish_to_fill(now);
}

void Views::on(const Contact& from, const Disconnect& disconnect, Now now) {
  Contact peer = from;
  if (const Contact* neighbour = find_in(active_, from.node)) peer = speaker(from, *neighbour);
  remove_neighbour(peer.node, now.mono);
  if (!disconnect.leaving) return learn(peer, now.mono);
  std::erase_if(passive_, named(peer.node));
  std::erase_if(lost_, named(peer.node));
}

void Views::learn(const Contact& contact, MonoTime now) {
  if (contact.node.empty() || !contact.endpoint.known() || is_self(contact)) return;
  if (Contact* neighbour = find_in(active_, contact.node)) {
    changed_ |= neighbour->endpoint != contact.endpoint;
    neighbour->endpoint = contact.endpoint;
    return;
  }
  if (Contact* known = find_in(passive_, contact.node)) {
    known->endpoint = contact.endpoint;
  } else if (passive_.size() < config_.passive_max) {
    passive_.push_back(contact);
  } else {
    passive_[prng_.below(passive_.size())] = contact;
  }
  wish_to_fill(now);
}

void Views::lost(const Contact& contact, MonoTime now) {
  remove_neighbour(contact.node, now);
  std::erase_if(passive_, named(contact.node));
  remember_lost(contact, now);
}

void Views::remember_lost(const Contact& contact, MonoTime now) {
  if (!contact.endpoint.known() || find_in(lost_, contact.node) != nullptr) return;
  if (lost_.size() >= config_.lost_max) lost_.erase(lost_.begin());
  lost_.push_back(contact);
  reach_out_pause_ = config_.reach_out;
  timers_.set({Timer::reach_out, {}}, about(now, reach_out_pause_));
}

void Views::returned(const Contact& contact, Now now, Effects& effects) {
  std::erase_if(lost_, named(contact.node));
  if (is_neighbour(contact.node) || asked_.contains(contact.node)) return;
  if (active_.size() < config_.active_max)
    ask(contact, active_.empty(), now.mono, effects);
  else
    learn(contact, now.mono);
}

void Views::heard(const NodeId& node, Now now, Effects& effects) {
  if (lost_.empty()) return;
  const Contact* missed = find_in(lost_, node);
  if (missed != nullptr) returned(Contact(*missed), now, effects);
}

void Views::unreachable(const NodeId& node, MonoTime now) {
  if (asked_.contains(node) && !is_neighbour(node)) give_up(node, now);
}

void Views::leave(Effects& effects) {
  for (const Contact& neighbour : active_) effects.send(neighbour, {}, Disconnect{true});
}

}  // namespace abacus
