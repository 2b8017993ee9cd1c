// What the views do by themselves: fill up, join again when alone, confirm links, mix, reach out to the lost.
#include <algorithm>

#include "core/overlay/views.h"

namespace abacus {

/// `later` give or take a quarter, so that nodes that met the same trouble at once do not act at once.
MonoTime Views::about(MonoTime now, Duration later) {
  return now + later + Duration{prng_.between(-later.ns / 4, later.ns / 4)};
}

void Views::start(MonoTime now) {
  timers_.set({Timer::confirm, {}}, about(now, config_.confirm));
  timers_.set({Timer::mix, {}}, about(now, mix_pause_));
  timers_.set({Timer::reach_out, {}}, about(now, reach_out_pause_));
}

void Views::add_seeds(const std::vector<Contact>& seeds, Now now, Effects& effects) {
  for (const Contact& seed : seeds) {
    const bool known = std::find(seeds_.begin(), seeds_.end(), seed) != seeds_.end();
    if (!known && !is_self(seed) && seed.endpoint.known() && seeds_.size() < config_.seeds_max) seeds_.push_back(seed);
  }
  prng_.shuffle(seeds_);
  if (active_.empty()) join(now, effects);
}

void Views::on_wake(Now now, Effects& effects) {
  while (std::optional<TimerKey> due = timers_.take_due(now.mono)) {
    switch (due->timer) {
      case Timer::fill: fill(now, effects); break;
      case Timer::join: join(now, effects); break;
      case Timer::confirm: confirm(now, effects); break;
      case Timer::mix: mix(now, effects); break;
      case Timer::reach_out: reach_out(now.mono); break;
      case Timer::reply: give_up(due->node, now.mono); break;
    }
  }
}

void Views::ask(const Contact& contact, bool urgent, MonoTime now, Effects& effects) {
  asked_.insert_or_assign(contact.node, contact);
  timers_.set({Timer::reply, contact.node}, now + config_.reply_timeout);
  effects.send(contact, {}, NeighbourRequest{self_, urgent});
}

/// No answer. Whether a neighbour is well is the failure detector's business; a mere contact is worth no more thought.
void Views::give_up(const NodeId& node, MonoTime now) {
  auto asked = asked_.find(node);
  if (asked == asked_.end()) return;
  const Contact contact = asked->second;
  asked_.erase(asked);
  timers_.cancel({Timer::reply, node});
  if (!is_neighbour(node)) lost(contact, now);
  wish_to_fill(now);
}

std::size_t Views::missing() const {
  std::size_t hoped_for = active_.size();
  for (const auto& [node, contact] : asked_) hoped_for += is_neighbour(node) ? 0 : 1;
  return hoped_for >= config_.active_target ? 0 : config_.active_target - hoped_for;
}

void Views::wish_to_fill(MonoTime now) {
  if (missing() == 0 || passive_.empty() || timers_.contains({Timer::fill, {}})) return;
  timers_.set({Timer::fill, {}}, about(now, active_.empty() ? config_.refill / 10 : fill_pause_));
}

std::vector<Contact> Views::candidates(MonoTime now) {
  std::erase_if(refused_, [&](const auto& row) { return row.second + config_.refusal_memory <= now; });
  std::vector<Contact> candidates;
  for (const Contact& contact : passive_) {
    if (!refused_.contains(contact.node) && !asked_.contains(contact.node)) candidates.push_back(contact);
  }
  prng_.shuffle(candidates);
  return candidates;
}

void Views::fill(Now now, Effects& effects) {
  std::vector<Contact> chosen = candidates(now.mono);
  chosen.resize(std::min(chosen.size(), missing()));
  // Where all are full, a second attempt takes somebody's surplus place; otherwise newcomers, each of whom wants a full
  // view, would find none left.
  const bool urgent = active_.empty() || fill_pause_ > config_.refill;
  for (const Contact& contact : chosen) ask(contact, urgent, now.mono, effects);
  // In a small network there may never be enough; a new neighbour resets the pause.
  fill_pause_ = std::min(fill_pause_ * 2, config_.refill_max);
  wish_to_fill(now.mono);
}

void Views::join(Now now, Effects& effects) {
  if (!active_.empty() || seeds_.empty()) return;
  effects.send(seeds_[next_seed_++ % seeds_.size()], {}, Join{self_});
  timers_.set({Timer::join, {}}, about(now.mono, join_pause_));
  join_pause_ = std::min(join_pause_ * 2, config_.join_retry_max);
}

void Views::confirm(Now now, Effects& effects) {
  timers_.set({Timer::confirm, {}}, about(now.mono, config_.confirm));
  if (active_.empty()) return;
  const Contact& neighbour = active_[next_confirmed_++ % active_.size()];
  if (!asked_.contains(neighbour.node)) ask(neighbour, false, now.mono, effects);
}

/// Where a view is above its target, somebody makes way for the one who is asked.
void Views::mix(Now now, Effects& effects) {
  mix_pause_ = std::min(mix_pause_ * 2, config_.mix_max);
  timers_.set({Timer::mix, {}}, about(now.mono, mix_pause_));
  if (missing() > 0) return;
  const std::vector<Contact> others = candidates(now.mono);
  if (others.empty()) return;
  if (active_.size() > config_.active_target) drop_random_neighbour(now.mono, effects);
  ask(others.front(), false, now.mono, effects);
}

void Views::reach_out(MonoTime now) {
  std::vector<Contact> away;
  for (const Contact& contact : lost_.empty() ? seeds_ : lost_) {
    if (contact.node.empty() || !is_neighbour(contact.node)) away.push_back(contact);
  }
  if (!away.empty()) reach_outs_.push_back(away[prng_.below(away.size())]);
  reach_out_pause_ = std::min(reach_out_pause_ * 2, config_.reach_out_max);
  timers_.set({Timer::reach_out, {}}, about(now, reach_out_pause_));
}

}  // namespace abacus
