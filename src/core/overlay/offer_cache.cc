// Stratified retention. One pass over the entries decides what is worth keeping; a few hundred entries make that cheap.
#include "core/overlay/offer_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace abacus {
namespace {

constexpr std::size_t kDrawsPerPick = 4;  // Draws at random before a place is left empty.
constexpr std::size_t kContactDraws = 16;

std::size_t share(std::size_t whole, std::uint32_t permille) { return whole * permille / 1'000; }

/// The highest level whose members (counts by level, level 0 being empty) fit the room.
std::size_t highest_level(const std::vector<std::size_t>& members, std::size_t room) {
  std::size_t total = 0;
  for (std::size_t level = 1; level < members.size(); ++level) {
    total += members[level];
    if (total > room) return level - 1;
  }
  return members.size() - 1;
}

}  // namespace

std::vector<std::string> device_classes(const Capacity& capacity) {
  std::vector<std::string> classes;
  for (const DeviceStock& stock : capacity.devices) {
    if (stock.count > 0) classes.push_back(stock.kind + ":" + stock.model);
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

OfferCache::OfferCache(const OfferCacheConfig& config, const NodeId& self, std::string own_region,
                       const RoundTrips& round_trips, Prng prng)
    : config_(config), self_(self), own_region_(std::move(own_region)), round_trips_(round_trips), prng_(prng) {}

std::size_t OfferCache::position_of(const NodeId& node) const {
  return static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
}

bool OfferCache::holds(std::size_t position, const NodeId& node) const {
  return position < nodes_.size() && nodes_[position] == node;
}

OfferRef OfferCache::find(const NodeId& node) const {
  std::size_t position = position_of(node);
  return holds(position, node) ? offers_[position] : nullptr;
}

std::optional<std::uint64_t> OfferCache::sequence_of(const NodeId& node) const {
  std::size_t position = position_of(node);
  if (!holds(position, node)) return std::nullopt;
  return offers_[position]->offer.sequence;
}

std::size_t OfferCache::holders_of(const std::string& device_class) const { return classes_.count(device_class); }

std::size_t OfferCache::nodes_in(const std::string& region) const { return regions_.count(region); }

OfferCache::Stratum OfferCache::stratum_by_distance(const std::string& region) const {
  if (region == own_region_) return Stratum::own_region;
  return round_trips_.to_region(region) <= config_.near_round_trip ? Stratum::near : Stratum::far;
}

Tally::Number OfferCache::shape_of(const Capacity& capacity) {
  const std::vector<std::string> names = device_classes(capacity);
  std::string key;  // With sizes: no name can look like two.
  for (const std::string& name : names) key += fmt::format("{} {} ", name.size(), name);
  const Tally::Number shape = shapes_.add(key);
  shape_classes_.resize(shapes_.bound());
  std::vector<Tally::Number>& classes = shape_classes_[shape];
  if (shapes_.count(shape) == 1) classes.clear();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tally::Number number = classes_.add(names[i]);
    if (shapes_.count(shape) == 1) classes.push_back(number);
  }
  return shape;
}

OfferCache::Tag OfferCache::count_in(const Offer& offer) {
  if (offer.contact.node == self_) return {};
  Tag tag{regions_.add(offer.region), shape_of(offer.capacity)};
  strata_.resize(regions_.bound());
  if (regions_.count(tag.region) == 1) strata_[tag.region] = stratum_by_distance(offer.region);
  return tag;
}

void OfferCache::count_out(const Tag& tag) {
  if (tag.own()) return;
  regions_.drop(tag.region);
  for (Tally::Number number : shape_classes_[tag.shape]) classes_.drop(number);
  shapes_.drop(tag.shape);
}

void OfferCache::remove(std::size_t position) {
  const auto at = static_cast<std::ptrdiff_t>(position);
  count_out(tags_[position]);
  nodes_.erase(nodes_.begin() + at);
  offers_.erase(offers_.begin() + at);
  tags_.erase(tags_.begin() + at);
  untils_.erase(untils_.begin() + at);
}

bool OfferCache::insert(OfferRef offer, WallTime until) {
  const NodeId node = offer->offer.contact.node;
  const std::size_t position = position_of(node);
  const bool replaces = holds(position, node);
  if (replaces && offers_[position]->offer.sequence >= offer->offer.sequence) return false;
  first_expiry_ = std::min(first_expiry_, until);
  const Tag tag = count_in(offer->offer);
  if (replaces) {
    count_out(tags_[position]);
    offers_[position] = std::move(offer);
    tags_[position] = tag;
    untils_[position] = until;
    return true;
  }
  const auto at = static_cast<std::ptrdiff_t>(position);
  nodes_.insert(nodes_.begin() + at, node);
  offers_.insert(offers_.begin() + at, std::move(offer));
  tags_.insert(tags_.begin() + at, tag);
  untils_.insert(untils_.begin() + at, until);
  const std::size_t own = holds(position_of(self_), self_) ? 1 : 0;
  if (offers_.size() > config_.capacity + own) evict_one();
  return true;
}

void OfferCache::expire(WallTime now) {
  for (const auto& [region, number] : regions_.numbers()) strata_[number] = stratum_by_distance(region);
  if (now < first_expiry_) return;
  first_expiry_ = {INT64_MAX};
  for (std::size_t i = untils_.size(); i-- > 0;) {
    if (untils_[i] <= now)
      remove(i);
    else
      first_expiry_ = std::min(first_expiry_, untils_[i]);
  }
}

void OfferCache::erase(const NodeId& node) {
  std::size_t position = position_of(node);
  if (holds(position, node)) remove(position);
}

/// By number of the shape: how many hold the rarest of its classes.
std::vector<std::size_t> OfferCache::rarities() const {
  std::vector<std::size_t> rarities(shapes_.bound(), std::numeric_limits<std::size_t>::max());
  for (const auto& [name, shape] : shapes_.numbers()) {
    for (Tally::Number number : shape_classes_[shape]) {
      rarities[shape] = std::min<std::size_t>(rarities[shape], classes_.count(number));
    }
  }
  return rarities;
}

OfferCache::Levels OfferCache::levels(const std::vector<std::size_t>& rarities) const {
  std::vector<std::size_t> by_class(config_.keep_per_class + 1);
  std::vector<std::size_t> by_region(config_.keep_per_region + 1);
  for (const Tag& tag : tags_) {
    if (tag.own()) continue;
    if (std::size_t holders = rarities[tag.shape]; holders < by_class.size()) ++by_class[holders];
    if (stratum_of(tag) == Stratum::own_region) continue;
    if (std::size_t nodes = regions_.count(tag.region); nodes < by_region.size()) ++by_region[nodes];
  }
  return {highest_level(by_class, share(config_.capacity, config_.retained_permille)),
          highest_level(by_region, share(config_.capacity, config_.contacts_permille))};
}

std::vector<std::uint32_t> OfferCache::not_retained(const Levels& kept,
                                                    const std::vector<std::size_t>& rarities) const {
  std::vector<std::uint32_t> positions;
  positions.reserve(tags_.size());
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    const Tag& tag = tags_[i];
    if (tag.own() || rarities[tag.shape] <= kept.per_class) continue;
    const bool away = stratum_of(tag) != Stratum::own_region;
    if (away && regions_.count(tag.region) <= kept.per_region) continue;
    positions.push_back(static_cast<std::uint32_t>(i));
  }
  return positions;
}

OfferCache::Stratum OfferCache::fullest(const std::array<std::size_t, 3>& counts) const {
  const std::size_t all = counts[0] + counts[1] + counts[2];
  const std::uint32_t far_permille = 1'000 - config_.own_region_permille - config_.near_permille;
  const std::array<std::size_t, 3> shares = {config_.own_region_permille, config_.near_permille, far_permille};
  std::size_t fullest = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    auto excess = static_cast<std::int64_t>(counts[i] * 1'000) - static_cast<std::int64_t>(all * shares[i]);
    if (counts[i] == 0 || excess <= most) continue;
    most = excess;
    fullest = i;
  }
  return static_cast<Stratum>(fullest);
}

void OfferCache::evict_one() {
  const std::vector<std::size_t> rare = rarities();
  std::vector<std::uint32_t> candidates = not_retained(levels(rare), rare);
  if (candidates.empty()) candidates = not_retained({}, rare);  // A configuration that retains everything.
  std::array<std::size_t, 3> counts{};
  for (std::uint32_t i : candidates) ++counts[static_cast<std::size_t>(stratum_of(tags_[i]))];
  const Stratum stratum = fullest(counts);
  std::uint64_t left = prng_.below(counts[static_cast<std::size_t>(stratum)]);
  for (std::uint32_t i : candidates) {
    if (stratum_of(tags_[i]) != stratum) continue;
    if (left-- == 0) return remove(i);
  }
}

bool OfferCache::pick(std::size_t position, const NodeId& partner, std::vector<std::size_t>& picked) const {
  if (tags_[position].own() || nodes_[position] == partner) return false;
  if (std::find(picked.begin(), picked.end(), position) != picked.end()) return false;
  picked.push_back(position);
  return true;
}

void OfferCache::add_rare(std::size_t count, std::size_t rare_class_max, const NodeId& partner,
                          std::vector<std::size_t>& picked) {
  std::vector<Tally::Number> rare;
  for (const auto& [name, number] : classes_.numbers()) {
    if (classes_.count(number) <= rare_class_max) rare.push_back(number);
  }
  for (std::size_t i = 0; i < rare.size() && i < count; ++i) {
    std::swap(rare[i], rare[i + prng_.below(rare.size() - i)]);
    std::vector<std::size_t> holders;
    for (std::size_t position = 0; position < tags_.size(); ++position) {
      if (tags_[position].own()) continue;
      const auto& classes = shape_classes_[tags_[position].shape];
      if (std::find(classes.begin(), classes.end(), rare[i]) != classes.end()) holders.push_back(position);
    }
    pick(holders[prng_.below(holders.size())], partner, picked);
  }
}

std::vector<OfferRef> OfferCache::sample(std::size_t count, std::size_t rare, std::size_t rare_class_max,
                                         const NodeId& partner) {
  std::vector<std::size_t> picked;
  if (offers_.empty() || count == 0) return {};
  add_rare(std::min(rare, count), rare_class_max, partner, picked);
  if (offers_.size() <= 2 * count) {  // Few: take them in random order instead of hoping for draws.
    std::vector<std::size_t> all(offers_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    prng_.shuffle(all);
    for (std::size_t i = 0; i < all.size() && picked.size() < count; ++i) pick(all[i], partner, picked);
  } else {
    for (std::size_t draws = 0; draws < kDrawsPerPick * count && picked.size() < count; ++draws) {
      pick(prng_.below(offers_.size()), partner, picked);
    }
  }
  std::vector<OfferRef> offers;
  for (std::size_t position : picked) offers.push_back(offers_[position]);
  return offers;
}

std::optional<Contact> OfferCache::random_contact(Where where) {
  for (std::size_t draws = 0; draws < kContactDraws && !offers_.empty(); ++draws) {
    const std::size_t position = prng_.below(offers_.size());
    const Offer& offer = offers_[position]->offer;
    if (tags_[position].own() || !offer.contact.endpoint.known()) continue;
    const bool in_region = offer.region == own_region_;
    if (where == Where::anywhere || in_region == (where == Where::own_region)) return offer.contact;
  }
  return std::nullopt;
}

}  // namespace abacus
