// Signing is asked for and comes back later, or never: then it is asked for again.
#include "core/overlay/own_offer.h"

#include <utility>

namespace abacus {

OwnOffer::OwnOffer(const OwnOfferConfig& config, Contact self, const OrgId& organisation, std::string region,
                   Capacity capacity, std::uint64_t epoch)
    : config_(config) {
  wanted_.contact = std::move(self);
  wanted_.organisation = organisation;
  wanted_.sequence = epoch << 32;
  wanted_.valid_for = config.valid_for;
  wanted_.region = std::move(region);
  wanted_.capacity = std::move(capacity);
}

bool OwnOffer::due(Now now) const {
  if (asked_at_ && now.mono < *asked_at_ + config_.resign_gap) return false;
  if (changed_) return true;
  const bool waiting = current_ == nullptr || current_->offer.sequence != wanted_.sequence;
  if (waiting) return now.mono >= *asked_at_ + config_.sign_retry;
  return now.wall >= wanted_.issued_at + wanted_.valid_for / 2 || now.wall + config_.resign_gap < wanted_.issued_at;
}

void OwnOffer::refresh(Now now, Effects& effects) {
  if (!due(now)) return;
  ++wanted_.sequence;
  wanted_.issued_at = now.wall;
  asked_at_ = now.mono;
  changed_ = false;
  effects.soft(SignOffer{wanted_});
}

void OwnOffer::capacity_is(const Capacity& capacity, Now now, Effects& effects) {
  if (capacity == wanted_.capacity) return;
  wanted_.capacity = capacity;
  changed_ = true;
  refresh(now, effects);
}

bool OwnOffer::signed_as(const OfferRef& offer) {
  if (offer == nullptr || offer->offer.contact.node != wanted_.contact.node) return false;
  if (offer->offer.sequence != wanted_.sequence) return false;
  current_ = offer;
  return true;
}

void OwnOffer::overtake(std::uint64_t sequence, Now now, Effects& effects) {
  if (sequence <= wanted_.sequence || sequence == UINT64_MAX) return;
  wanted_.sequence = sequence;
  changed_ = true;
  refresh(now, effects);
}

}  // namespace abacus
