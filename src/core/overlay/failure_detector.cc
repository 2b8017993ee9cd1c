// Probing and its outcomes. What others say is in failure_detector_rumours.cc.
#include "core/overlay/failure_detector.h"

#include <algorithm>
#include <utility>

namespace abacus {
namespace {

constexpr std::int64_t kRoundTripsPerTimeout = 3;  // Two for jitter, one to travel.
constexpr std::int64_t kTimeoutsPerProbe = 3;      // One direct, two for the way over a helper.

}  // namespace

FailureDetector::FailureDetector(const DetectorConfig& config, const NodeId& self, std::uint64_t epoch,
                                 const RoundTrips& round_trips, Prng prng)
    : config_(config),
      self_(self),
      incarnation_(epoch << 32),
      round_trips_(round_trips),
      prng_(prng),
      rumours_(config) {}

void FailureDetector::start(MonoTime now) {
  // Somewhere within the first period, so that nodes started together do not probe together.
  timers_.set({Timer::period, 0, {}}, now + Duration{prng_.between(0, config_.period.ns)});
}

FailureDetector::Member* FailureDetector::find(const NodeId& node) {
  auto found = members_.find(node);
  return found == members_.end() ? nullptr : &found->second;
}

bool FailureDetector::is_suspect(const NodeId& node) const {
  auto found = members_.find(node);
  return found != members_.end() && found->second.belief == Belief::suspect;
}

std::vector<OverlayNotice> FailureDetector::take_notices() { return std::exchange(notices_, {}); }
std::vector<Contact> FailureDetector::take_unreachable() { return std::exchange(unreachable_, {}); }
std::vector<Contact> FailureDetector::take_returned() { return std::exchange(returned_, {}); }

void FailureDetector::set_members(const std::vector<Contact>& neighbours, const std::vector<Contact>& counterparties) {
  for (auto& [node, member] : members_) member.neighbour = member.counterparty = false;
  auto mark = [&](const Contact& contact) -> Member& {
    Member& member = members_[contact.node];
    if (contact.endpoint.known() || member.contact.node.empty()) member.contact = contact;
    return member;
  };
  for (const Contact& contact : neighbours) mark(contact).neighbour = true;
  for (const Contact& contact : counterparties) mark(contact).counterparty = true;
  std::vector<NodeId> idle;
  for (const auto& [node, member] : members_) {
    if (!is_member(member)) idle.push_back(node);
  }
  for (const NodeId& node : idle) drop_if_idle(node);
  trim_lingering();
}

void FailureDetector::drop_if_idle(const NodeId& node) {
  Member* member = find(node);
  if (member == nullptr || is_member(*member) || member->belief == Belief::suspect) return;
  timers_.cancel({Timer::doubt_end, 0, node});
  timers_.cancel({Timer::linger, 0, node});
  members_.erase(node);
}

void FailureDetector::trim_lingering() {
  std::vector<std::pair<MonoTime, NodeId>> lingering;
  for (const auto& [node, member] : members_) {
    if (!is_member(member)) lingering.emplace_back(member.since, node);
  }
  if (lingering.size() <= config_.lingering_max) return;
  std::sort(lingering.begin(), lingering.end());
  lingering.resize(lingering.size() - config_.lingering_max);
  for (const auto& [since, node] : lingering) {
    members_[node].belief = Belief::alive;
    drop_if_idle(node);
  }
}

void FailureDetector::on_wake(Now now, Effects& effects) {
  while (std::optional<TimerKey> due = timers_.take_due(now.mono)) {
    switch (due->timer) {
      case Timer::period: next_period(now, effects); break;
      case Timer::indirect:
        if (auto found = probes_.find(due->probe); found != probes_.end())
          ask_helpers(due->probe, found->second, effects);
        break;
      case Timer::probe_end: probe_failed(due->probe, now.mono); break;
      case Timer::relay_end: end_relay(due->probe, false, effects); break;
      case Timer::doubt_end:
        if (Member* member = find(due->node)) suspect(*member, now.mono);
        break;
      case Timer::linger:
        if (Member* member = find(due->node)) probe(*member, now, effects);
        break;
    }
  }
}

void FailureDetector::next_period(Now now, Effects& effects) {
  timers_.set({Timer::period, 0, {}}, now.mono + config_.period * (1 + health_));
  std::size_t well = 0;
  for (auto& [node, member] : members_) {
    if (member.belief == Belief::doubted) probe(member, now, effects);
    if (member.belief == Belief::alive) ++well;
  }
  const auto periods = static_cast<std::size_t>(std::max<std::int64_t>(1, config_.cycle_max.ns / config_.period.ns));
  for (std::size_t i = 0; i < (well + periods - 1) / periods; ++i) {
    std::optional<NodeId> node = next_in_round();
    if (node) probe(*find(*node), now, effects);
  }
}

/// SWIM's round robin: every member once a round, in an order drawn anew.
std::optional<NodeId> FailureDetector::next_in_round() {
  for (bool refilled = false;; refilled = true) {
    while (!round_.empty()) {
      const NodeId node = round_.back();
      round_.pop_back();
      const Member* member = find(node);
      if (member != nullptr && member->belief == Belief::alive) return node;
    }
    if (refilled) return std::nullopt;
    for (const auto& [node, member] : members_) round_.push_back(node);
    prng_.shuffle(round_);
  }
}

bool FailureDetector::probing(const NodeId& node) const {
  return std::any_of(probes_.begin(), probes_.end(), [&](const auto& row) { return row.second.target == node; });
}

void FailureDetector::probe(Member& member, Now now, Effects& effects) {
  if (probing(member.contact.node)) return;
  const std::uint32_t number = ++last_probe_;
  const Duration patience = round_trips_.to(member.contact.node, nullptr) * kRoundTripsPerTimeout;
  const Duration timeout = std::max(config_.timeout, patience) * (1 + health_);
  member.probed_at = now.mono;
  probes_.insert_or_assign(number, Probe{member.contact.node, now.mono, timeout, false, false, {}, {}});
  timers_.set({Timer::indirect, number, {}}, now.mono + timeout);
  timers_.set({Timer::probe_end, number, {}}, now.mono + timeout * kTimeoutsPerProbe);
  effects.send(member.contact, {}, Ping{number, rumours_for(member.contact.node)});
}

void FailureDetector::probe_at_once(Member& member, Now now, Effects& effects) {
  if (member.probed_at && now.mono < *member.probed_at + config_.period) return;
  probe(member, now, effects);
}

void FailureDetector::ask_helpers(std::uint32_t number, Probe& probe, Effects& effects) {
  const Member* target = find(probe.target);
  if (probe.indirect || target == nullptr || target->belief == Belief::suspect) return;
  probe.indirect = true;
  for (const Contact& helper : choose_helpers(probe.target)) {
    probe.helpers.push_back(helper.node);
    effects.send(helper, {}, PingRequest{number, target->contact});
  }
}

std::vector<Contact> FailureDetector::choose_helpers(const NodeId& target) {
  std::vector<Contact> helpers;
  for (const auto& [node, member] : members_) {
    if (node != target && member.neighbour && member.belief == Belief::alive) helpers.push_back(member.contact);
  }
  prng_.shuffle(helpers);
  if (helpers.size() > config_.indirect_probes) helpers.resize(config_.indirect_probes);
  return helpers;
}

void FailureDetector::end_probe(std::uint32_t number) {
  timers_.cancel({Timer::indirect, number, {}});
  timers_.cancel({Timer::probe_end, number, {}});
  probes_.erase(number);
}

std::optional<Duration> FailureDetector::on(const Contact& from, const PingAck& ack, Now now, Effects& effects) {
  std::optional<Duration> round_trip;
  if (auto relay = relays_.find(ack.probe); relay != relays_.end() && relay->second.target == from.node) {
    end_relay(ack.probe, true, effects);
  }
  if (Member* member = find(from.node)) member->incarnation = ack.incarnation;
  if (auto probe = probes_.find(ack.probe); probe != probes_.end() && probe->second.target == from.node) {
    round_trip = now.mono - probe->second.sent_at;
    probe_succeeded(ack.probe);
  }
  hear(from.node, ack.rumours, now, effects);
  return round_trip;
}

void FailureDetector::on(const Contact& from, const PingRelay& relay, Now now, Effects&) {
  auto found = probes_.find(relay.probe);
  if (found == probes_.end() || found->second.target != relay.target) return;
  Probe& probe = found->second;
  auto asked = std::find(probe.helpers.begin(), probe.helpers.end(), from.node);
  if (asked == probe.helpers.end()) return;
  if (relay.reached) return probe_succeeded(relay.probe);
  if (std::find(probe.nacks.begin(), probe.nacks.end(), from.node) != probe.nacks.end()) return;
  probe.nacks.push_back(from.node);
  if (probe.broken && probe.nacks.size() == probe.helpers.size()) probe_failed(relay.probe, now.mono);
}

void FailureDetector::lost(const NodeId& node, Now now, Effects& effects) {
  std::vector<std::uint32_t> vain;
  for (const auto& [number, relay] : relays_) {
    if (relay.target == node) vain.push_back(number);
  }
  for (std::uint32_t number : vain) end_relay(number, false, effects);
  Member* member = find(node);
  if (member == nullptr || member->belief == Belief::suspect) return;
  for (auto& [number, probe] : probes_) {
    if (probe.target != node) continue;
    probe.broken = true;
    return ask_helpers(number, probe, effects);
  }
  probe_at_once(*member, now, effects);
}

void FailureDetector::heard(const NodeId& node, Now now, Effects& effects) {
  Member* member = find(node);
  if (member != nullptr && member->belief == Belief::suspect) probe_at_once(*member, now, effects);
}

void FailureDetector::probe_succeeded(std::uint32_t number) {
  const NodeId target = probes_.at(number).target;
  end_probe(number);
  if (health_ > 0) --health_;
  if (Member* member = find(target)) answered(*member);
}

void FailureDetector::probe_failed(std::uint32_t number, MonoTime now) {
  auto found = probes_.find(number);
  if (found == probes_.end()) return;
  const Probe probe = std::move(found->second);
  end_probe(number);
  Member* member = find(probe.target);
  if (member == nullptr) return;
  if (member->belief == Belief::suspect) return still_silent(*member, now);
  judge_health(probe);
  doubt(*member, now);
}

/// Lifeguard: helpers that did not even say that they failed are a sign that it is this node that hears nothing.
void FailureDetector::judge_health(const Probe& probe) {
  std::size_t missing = probe.helpers.size() - probe.nacks.size();
  if (probe.helpers.empty() && !probe.broken) missing = 1;
  health_ = std::min<std::uint32_t>(config_.health_max, health_ + static_cast<std::uint32_t>(missing));
}

}  // namespace abacus
