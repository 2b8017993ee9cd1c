// Samples out, samples back; nothing that comes in is looked at here.
#include "core/overlay/shuffler.h"

#include <algorithm>
#include <utility>

namespace abacus {

Shuffler::Shuffler(const ShuffleConfig& config, OfferCache& cache, Prng prng)
    : config_(config), cache_(cache), prng_(prng), welcomes_left_(config.welcomes_max) {}

MonoTime Shuffler::next_after(MonoTime now) {
  const std::int64_t quarter = config_.period.ns / 4;
  return now + config_.period + Duration{prng_.between(-quarter, quarter)};
}

std::vector<OfferRef> Shuffler::offers_for(const NodeId& partner, const OfferRef& own, std::size_t count) {
  std::vector<OfferRef> offers;
  if (count == 0) return offers;
  if (own != nullptr) offers.push_back(own);
  const std::size_t rare = std::min(config_.rare_offers, count);
  for (OfferRef& offer : cache_.sample(count - offers.size(), rare, config_.rare_class_max, partner)) {
    offers.push_back(std::move(offer));
  }
  return offers;
}

void Shuffler::forget_old(MonoTime now) {
  std::erase_if(exchanges_, [&](const auto& row) { return row.second.since + config_.exchange_timeout <= now; });
}

void Shuffler::begin(const Contact& to, const OfferRef& own, Now now, Effects& effects) {
  forget_old(now.mono);
  exchanges_.insert_or_assign(++last_exchange_, Exchange{to.node, now.mono});
  effects.send(to, {}, Shuffle{last_exchange_, offers_for(to.node, own, config_.offers)});
}

void Shuffler::answer(const Contact& to, const Shuffle& shuffle, const OfferRef& own, Effects& effects) {
  const std::size_t count = std::clamp<std::size_t>(shuffle.offers.size(), 1, config_.offers);
  effects.send(to, {}, ShuffleReply{shuffle.exchange, offers_for(to.node, own, count)});
}

std::optional<Duration> Shuffler::answered(const NodeId& from, std::uint32_t exchange, MonoTime now) {
  auto found = exchanges_.find(exchange);
  if (found == exchanges_.end()) return std::nullopt;
  const auto [partner, since] = found->second;
  if (!partner.empty() && partner != from) return std::nullopt;  // A seed's name is not known beforehand.
  exchanges_.erase(found);
  return now - since;
}

bool Shuffler::may_welcome(MonoTime now) {
  const std::int64_t earned = (now - welcomes_counted_).ns / config_.welcome_period.ns;
  if (earned > 0) {
    welcomes_counted_ = welcomes_counted_ + config_.welcome_period * earned;
    welcomes_left_ = static_cast<std::uint32_t>(std::min<std::int64_t>(config_.welcomes_max, welcomes_left_ + earned));
  }
  if (welcomes_left_ == 0) return false;
  --welcomes_left_;
  return true;
}

void Shuffler::welcome(const Contact& newcomer, const OfferRef& own, MonoTime now, Effects& effects) {
  if (!may_welcome(now)) {
    effects.send(newcomer, {}, ShuffleReply{0, offers_for(newcomer.node, own, config_.offers)});
    return;
  }
  std::vector<OfferRef> batch;
  for (const OfferRef& offer : cache_.offers()) {
    if (offer->offer.contact.node == newcomer.node) continue;
    batch.push_back(offer);
    if (batch.size() == config_.welcome_offers) effects.send(newcomer, {}, ShuffleReply{0, std::exchange(batch, {})});
  }
  if (!batch.empty()) effects.send(newcomer, {}, ShuffleReply{0, std::move(batch)});
}

bool Shuffler::may_search(MonoTime now) {
  if (searched_at_ && now < *searched_at_ + config_.search_gap) return false;
  searched_at_ = now;
  return true;
}

}  // namespace abacus
