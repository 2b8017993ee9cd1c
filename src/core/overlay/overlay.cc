// Each message goes to the part it is for; what it means for the other parts follows in `settle`.
#include "core/overlay/overlay.h"

#include <algorithm>
#include <utility>

namespace abacus {
namespace {

constexpr int kPartnerDraws = 4;

void sort_by_node(std::vector<Contact>& contacts) {
  std::sort(contacts.begin(), contacts.end());
  contacts.erase(std::unique(contacts.begin(), contacts.end(),
                             [](const Contact& a, const Contact& b) { return a.node == b.node; }),
                 contacts.end());
}

/// Where a counterparty was known to be, it still is until something else is heard. Both lists are by node id.
void keep_endpoints(std::vector<Contact>& contacts, const std::vector<Contact>& earlier) {
  auto old = earlier.begin();
  for (Contact& contact : contacts) {
    while (old != earlier.end() && old->node < contact.node) ++old;
    if (!contact.endpoint.known() && old != earlier.end() && old->node == contact.node) contact = *old;
  }
}

}  // namespace

Overlay::Overlay(const OverlayConfig& config, const Contact& self, const OrgId& organisation, const std::string& region,
                 const Capacity& capacity, std::uint64_t epoch, Prng prng)
    : config_(config),
      self_(self),
      round_trips_(config.round_trips, region),
      prng_(prng),
      cache_(config.cache, self.node, region, round_trips_, Prng(prng_.next())),
      intake_(config.intake, self.node),
      own_offer_(config.own_offer, self, organisation, region, capacity, epoch),
      shuffler_(config.shuffle, cache_, Prng(prng_.next())),
      detector_(config.detector, self.node, epoch, round_trips_, Prng(prng_.next())),
      views_(config.views, self, Prng(prng_.next())) {}

void Overlay::start(Now now, Effects& effects) {
  own_offer_.refresh(now, effects);
  detector_.start(now.mono);
  views_.start(now.mono);
  next_shuffle_ = shuffler_.next_after(now.mono);
}

// ---- messages ------------------------------------------------------------------------------------------------------

void Overlay::on(const Contact& from, const TraceContext&, const Join& message, Now now, Effects& effects) {
  views_.on(from, message, now, effects);
  heard(from, now, effects);
  if (views_.is_neighbour(from.node)) {
    shuffler_.welcome(reachable(from), own_offer_.current(), now.mono, effects);
    shuffle(reachable(from), now, effects);  // What does the newcomer have?
  }
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const ForwardJoin& message, Now now, Effects& effects) {
  views_.on(from, message, now, effects);
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const NeighbourRequest& message, Now now, Effects& effects) {
  views_.on(from, message, now, effects);
  heard(from, now, effects);
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const NeighbourReply& message, Now now, Effects& effects) {
  views_.on(from, message, now, effects);
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const Disconnect& message, Now now, Effects& effects) {
  views_.on(reachable(from), message, now);
  if (message.leaving) {
    detector_.left(from.node, now.mono);
    if (auto sequence = cache_.sequence_of(from.node)) intake_.departed(from.node, *sequence);
    cache_.erase(from.node);
  }
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const Shuffle& message, Now now, Effects& effects) {
  cache_.expire(now.wall);
  shuffler_.answer(reachable(from), message, own_offer_.current(), effects);
  heard(from, now, effects);
  consider(from.node, message.offers, now, effects);
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const ShuffleReply& message, Now now, Effects& effects) {
  measured(from.node, shuffler_.answered(from.node, message.exchange, now.mono));
  heard(from, now, effects);
  consider(from.node, message.offers, now, effects);
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const Ping& message, Now now, Effects& effects) {
  detector_.on(reachable(from), message, now, effects);
  heard(from, now, effects);
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const PingAck& message, Now now, Effects& effects) {
  measured(from.node, detector_.on(from, message, now, effects));
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const PingRequest& message, Now now, Effects& effects) {
  detector_.on(reachable(from), message, now, effects);
  settle(now, effects);
}

void Overlay::on(const Contact& from, const TraceContext&, const PingRelay& message, Now now, Effects& effects) {
  detector_.on(from, message, now, effects);
  settle(now, effects);
}

// ---- events --------------------------------------------------------------------------------------------------------

void Overlay::on(const PeerLost& event, Now now, Effects& effects) {
  if (leaving_) return;
  views_.unreachable(event.peer, now.mono);
  detector_.lost(event.peer, now, effects);
  settle(now, effects);
}

void Overlay::on(const OfferSigned& event, Now now, Effects&) {
  if (!own_offer_.signed_as(event.offer)) return;
  if (auto until = intake_.live_until(event.offer->offer, now.wall)) cache_.insert(event.offer, *until);
}

void Overlay::on(const OffersChecked& event, Now now, Effects& effects) {
  for (const OfferRef& offer : event.offers) keep(offer, now, effects);
  settle(now, effects);
}

void Overlay::on(const CapacityProbed& event, Now now, Effects& effects) {
  own_offer_.capacity_is(event.capacity, now, effects);
}

void Overlay::on(const ContactsGiven& event, Now now, Effects& effects) {
  views_.add_seeds(event.contacts, now, effects);
  settle(now, effects);
}

void Overlay::on(const Leaving&, Now, Effects& effects) {
  if (leaving_) return;
  leaving_ = true;
  views_.leave(effects);
}

std::optional<MonoTime> Overlay::next_wake() const {
  if (leaving_) return std::nullopt;
  std::optional<MonoTime> earliest = next_shuffle_;
  for (std::optional<MonoTime> at : {detector_.next_wake(), views_.next_wake()}) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  }
  return earliest;
}

void Overlay::on_wake(Now now, Effects& effects) {
  if (leaving_) return;
  detector_.on_wake(now, effects);
  views_.on_wake(now, effects);
  if (next_shuffle_ && *next_shuffle_ <= now.mono) shuffle_round(now, effects);
  for (const Contact& contact : views_.take_reach_outs()) shuffle(contact, now, effects);
  settle(now, effects);
}

void Overlay::watch(std::vector<Contact> counterparties, Now now, Effects& effects) {
  sort_by_node(counterparties);
  for (Contact& contact : counterparties) contact = reachable(contact);
  keep_endpoints(counterparties, counterparties_);
  if (counterparties == counterparties_) return;
  counterparties_ = std::move(counterparties);
  members_changed_ = true;
  settle(now, effects);
}

// ---- offers --------------------------------------------------------------------------------------------------------

void Overlay::heard_referrals(const std::vector<OfferRef>& referrals, Now now, Effects& effects) {
  consider({}, referrals, now, effects);
}

void Overlay::consider(const NodeId& source, const std::vector<OfferRef>& offers, Now now, Effects& effects) {
  std::vector<OfferRef> news = intake_.news(source, offers, cache_, own_offer_.sequence(), now);
  if (!news.empty()) effects.soft(CheckOffers{std::move(news)});
}

void Overlay::keep(const OfferRef& offer, Now now, Effects& effects) {
  if (offer == nullptr) return;
  std::optional<WallTime> until = intake_.live_until(offer->offer, now.wall);
  if (!until) return;
  if (offer->offer.contact.node == self_.node) return own_offer_.overtake(offer->offer.sequence, now, effects);
  if (cache_.insert(offer, *until)) views_.learn(offer->offer.contact, now.mono);
}

void Overlay::shuffle(const Contact& to, Now now, Effects& effects) {
  shuffler_.begin(to, own_offer_.current(), now, effects);
}

void Overlay::shuffle_round(Now now, Effects& effects) {
  next_shuffle_ = shuffler_.next_after(now.mono);
  cache_.expire(now.wall);
  own_offer_.refresh(now, effects);
  if (std::optional<Contact> with = partner()) shuffle(*with, now, effects);
}

std::optional<Contact> Overlay::partner() {
  if (prng_.chance(config_.shuffle.cached_contact_permille, 1'000)) {
    for (int draw = 0; draw < kPartnerDraws; ++draw) {
      std::optional<Contact> contact = cache_.random_contact(Where::anywhere);
      if (contact && !detector_.is_suspect(contact->node)) return contact;
    }
  }
  return views_.random_neighbour();
}

void Overlay::search(Now now, Effects& effects) {
  if (!shuffler_.may_search(now.mono)) return;
  std::vector<NodeId> asked;
  for (std::size_t i = 0; i < config_.shuffle.search_contacts; ++i) {
    std::optional<Contact> contact = cache_.random_contact(i % 2 == 0 ? Where::own_region : Where::elsewhere);
    if (!contact) contact = cache_.random_contact(Where::anywhere);
    if (!contact || detector_.is_suspect(contact->node)) continue;
    if (std::find(asked.begin(), asked.end(), contact->node) != asked.end()) continue;
    asked.push_back(contact->node);
    shuffle(*contact, now, effects);
  }
}

// ---- what follows --------------------------------------------------------------------------------------------------

/// A peer that dialled us can be answered over its connection; its offer says how to reach it after that.
Contact Overlay::reachable(const Contact& from) const {
  if (from.endpoint.known()) return from;
  OfferRef offer = cache_.find(from.node);
  return offer != nullptr ? offer->offer.contact : from;
}

void Overlay::heard(const Contact& from, Now now, Effects& effects) {
  detector_.heard(from.node, now, effects);
  views_.heard(from.node, now, effects);
}

void Overlay::measured(const NodeId& node, std::optional<Duration> round_trip) {
  if (!round_trip) return;
  OfferRef offer = cache_.find(node);
  round_trips_.measured(node, offer != nullptr ? &offer->offer.region : nullptr, *round_trip);
}

void Overlay::settle(Now now, Effects& effects) {
  for (const Contact& contact : detector_.take_unreachable()) views_.lost(contact, now.mono);
  for (const Contact& contact : detector_.take_returned()) views_.returned(contact, now, effects);
  if (views_.take_changed()) members_changed_ = true;
  if (std::exchange(members_changed_, false)) publish_members(effects);
}

void Overlay::publish_members(Effects& effects) {
  detector_.set_members(views_.active(), counterparties_);
  std::vector<Contact> wanted = views_.active();
  wanted.insert(wanted.end(), counterparties_.begin(), counterparties_.end());
  sort_by_node(wanted);
  if (wanted == kept_) return;
  kept_ = std::move(wanted);
  effects.soft(KeepConnections{kept_});
}

std::vector<OverlayNotice> Overlay::take_notices() { return detector_.take_notices(); }

// ---- what others ask -----------------------------------------------------------------------------------------------

std::span<const OfferRef> Overlay::offers(WallTime) const { return cache_.offers(); }

OfferRef Overlay::find(const NodeId& node) const { return cache_.find(node); }

bool Overlay::is_suspect(const NodeId& node) const { return detector_.is_suspect(node); }

Duration Overlay::round_trip(const NodeId& node) const {
  if (node == self_.node) return {};
  OfferRef offer = cache_.find(node);
  return round_trips_.to(node, offer != nullptr ? &offer->offer.region : nullptr);
}

std::vector<PeerView> Overlay::view(Now now) const {
  std::vector<PeerView> peers;
  for (const OfferRef& held : cache_.offers()) {
    const Offer& offer = held->offer;
    const NodeId& node = offer.contact.node;
    peers.push_back({node,
                     offer.contact.endpoint,
                     offer.region,
                     offer.capacity,
                     round_trip(node),
                     node == self_.node,
                     views_.is_neighbour(node),
                     is_suspect(node),
                     offer.sequence,
                     now.wall - offer.issued_at,
                     {}});
  }
  return peers;
}

}  // namespace abacus
