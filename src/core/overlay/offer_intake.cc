// A sliding window over the checks asked for.
#include "core/overlay/offer_intake.h"

#include <algorithm>

namespace abacus {

OfferIntake::Key OfferIntake::key_of(const SignedOffer& offer) {
  std::uint64_t mark = 0;
  for (std::size_t i = 0; i < 8; ++i) mark = mark << 8 | offer.signature[i];
  return {offer.offer.contact.node, offer.offer.sequence, mark};
}

std::optional<WallTime> OfferIntake::live_until(const Offer& offer, WallTime now) const {
  // Compared before anything is added: a peer may have dated its offer anywhere in 64 bits.
  if (offer.issued_at > now + config_.clock_skew || offer.issued_at <= now - config_.offer_life_max)
    return std::nullopt;
  const WallTime until = offer.issued_at + std::min(offer.valid_for, config_.offer_life_max);
  if (until <= now) return std::nullopt;
  auto left = departed_.find(offer.contact.node);
  if (left != departed_.end() && offer.sequence <= left->second) return std::nullopt;
  return until;
}

void OfferIntake::forget_old(MonoTime now) {
  while (!checks_.empty() && checks_.front().since + config_.check_timeout <= now) {
    keys_.erase(checks_.front().key);
    auto source = by_source_.find(checks_.front().source);
    if (--source->second == 0) by_source_.erase(source);
    checks_.pop_front();
  }
}

bool OfferIntake::admit(const NodeId& source, const SignedOffer& offer, MonoTime now) {
  if (checks_.size() >= config_.checks_max) return false;
  Key key = key_of(offer);
  if (keys_.contains(key)) return false;
  auto used = by_source_.try_emplace(source, 0).first;
  if (used->second >= config_.checks_per_peer) return false;
  ++used->second;
  keys_.insert(key);
  checks_.push_back({now, key, source});
  return true;
}

std::vector<OfferRef> OfferIntake::news(const NodeId& source, const std::vector<OfferRef>& offers,
                                        const OfferCache& cache, std::uint64_t own_sequence, Now now) {
  forget_old(now.mono);
  std::vector<OfferRef> news;
  for (const OfferRef& offer : offers) {
    if (offer == nullptr || !live_until(offer->offer, now.wall)) continue;
    const NodeId& node = offer->offer.contact.node;
    std::optional<std::uint64_t> known = node == self_ ? own_sequence : cache.sequence_of(node);
    if (known && *known >= offer->offer.sequence) continue;
    if (admit(source, *offer, now.mono)) news.push_back(offer);
  }
  return news;
}

void OfferIntake::departed(const NodeId& node, std::uint64_t sequence) {
  auto [row, fresh] = departed_.insert_or_assign(node, sequence);
  if (!fresh) return;
  departures_.push_back(node);
  if (departures_.size() <= config_.departed_max) return;
  departed_.erase(departures_.front());
  departures_.pop_front();
}

}  // namespace abacus
