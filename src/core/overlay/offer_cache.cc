// Stratified retention. One pass over the entries decides what is worth keeping; a few hundred entries make that cheap.
#include "core/overlay/offer_cache.h"

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
  auto less = [](const OfferRef& offer, const NodeId& id) { return offer->offer.contact.node < id; };
  return static_cast<std::size_t>(std::lower_bound(offers_.begin(), offers_.end(), node, less) - offers_.begin());
}

bool OfferCache::holds(std::size_t position, const NodeId& node) const {
  return position < offers_.size() && offers_[position]->offer.contact.node == node;
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

std::size_t OfferCache::holders_of(const std::string& device_class) const {
  auto found = classes_.find(device_class);
  return found == classes_.end() ? 0 : found->second;
}

std::size_t OfferCache::nodes_in(const std::string& region) const {
  auto found = regions_.find(region);
  return found == regions_.end() ? 0 : found->second.count;
}

OfferCache::Stratum OfferCache::stratum_of(const std::string& region) const {
  if (region == own_region_) return Stratum::own_region;
  return round_trips_.to_region(region) <= config_.near_round_trip ? Stratum::near : Stratum::far;
}

OfferCache::Entry OfferCache::count_in(const Offer& offer, WallTime until) {
  Entry entry{until, regions_.end(), {}};
  if (offer.contact.node == self_) return entry;
  auto [region, fresh] = regions_.try_emplace(offer.region);
  if (fresh) region->second.stratum = stratum_of(offer.region);
  ++region->second.count;
  entry.region = region;
  for (std::string& name : device_classes(offer.capacity)) {
    auto row = classes_.try_emplace(std::move(name), 0).first;
    ++row->second;
    entry.classes.push_back(row);
  }
  return entry;
}

void OfferCache::count_out(const Entry& entry) {
  if (is_own(entry)) return;
  if (--entry.region->second.count == 0) regions_.erase(entry.region);
  for (Classes::iterator row : entry.classes) {
    if (--row->second == 0) classes_.erase(row);
  }
}

void OfferCache::remove(std::size_t position) {
  count_out(entries_[position]);
  offers_.erase(offers_.begin() + static_cast<std::ptrdiff_t>(position));
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(position));
}

bool OfferCache::insert(OfferRef offer, WallTime until) {
  const NodeId node = offer->offer.contact.node;
  std::size_t position = position_of(node);
  bool replaces = holds(position, node);
  if (replaces && offers_[position]->offer.sequence >= offer->offer.sequence) return false;
  first_expiry_ = std::min(first_expiry_, until);
  Entry entry = count_in(offer->offer, until);
  if (replaces) {
    count_out(entries_[position]);
    offers_[position] = std::move(offer);
    entries_[position] = std::move(entry);
    return true;
  }
  offers_.insert(offers_.begin() + static_cast<std::ptrdiff_t>(position), std::move(offer));
  entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(position), std::move(entry));
  std::size_t own = holds(position_of(self_), self_) ? 1 : 0;
  if (offers_.size() > config_.capacity + own) evict_one();
  return true;
}

void OfferCache::expire(WallTime now) {
  for (auto& [region, row] : regions_) row.stratum = stratum_of(region);
  if (now < first_expiry_) return;
  first_expiry_ = {INT64_MAX};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].until <= now) {
      count_out(entries_[i]);
      continue;
    }
    first_expiry_ = std::min(first_expiry_, entries_[i].until);
    if (kept != i) {
      offers_[kept] = std::move(offers_[i]);
      entries_[kept] = std::move(entries_[i]);
    }
    ++kept;
  }
  offers_.resize(kept);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(kept), entries_.end());
}

void OfferCache::erase(const NodeId& node) {
  std::size_t position = position_of(node);
  if (holds(position, node)) remove(position);
}

/// How many hold the rarest of an entry's classes.
std::size_t OfferCache::rarity(const Entry& entry) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (Classes::iterator row : entry.classes) fewest = std::min<std::size_t>(fewest, row->second);
  return fewest;
}

OfferCache::Levels OfferCache::levels() const {
  std::vector<std::size_t> by_class(config_.keep_per_class + 1);
  std::vector<std::size_t> by_region(config_.keep_per_region + 1);
  for (const Entry& entry : entries_) {
    if (is_own(entry)) continue;
    if (std::size_t holders = rarity(entry); holders < by_class.size()) ++by_class[holders];
    if (entry.region->second.stratum == Stratum::own_region) continue;
    if (std::size_t nodes = entry.region->second.count; nodes < by_region.size()) ++by_region[nodes];
  }
  return {highest_level(by_class, share(config_.capacity, config_.retained_permille)),
          highest_level(by_region, share(config_.capacity, config_.contacts_permille))};
}

bool OfferCache::retained(const Entry& entry, const Levels& levels) const {
  if (is_own(entry) || rarity(entry) <= levels.per_class) return true;
  return entry.region->second.stratum != Stratum::own_region && entry.region->second.count <= levels.per_region;
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

std::vector<std::uint32_t> OfferCache::not_retained(const Levels& kept) const {
  std::vector<std::uint32_t> positions;
  positions.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!retained(entries_[i], kept)) positions.push_back(static_cast<std::uint32_t>(i));
  }
  return positions;
}

void OfferCache::evict_one() {
  std::vector<std::uint32_t> candidates = not_retained(levels());
  if (candidates.empty()) candidates = not_retained({});  // A configuration that retains everything.
  std::array<std::size_t, 3> counts{};
  for (std::uint32_t i : candidates) ++counts[static_cast<std::size_t>(entries_[i].region->second.stratum)];
  const Stratum stratum = fullest(counts);
  std::uint64_t left = prng_.below(counts[static_cast<std::size_t>(stratum)]);
  for (std::uint32_t i : candidates) {
    if (entries_[i].region->second.stratum != stratum) continue;
    if (left-- == 0) return remove(i);
  }
}

bool OfferCache::pick(std::size_t position, const NodeId& partner, std::vector<std::size_t>& picked) const {
  if (is_own(entries_[position]) || offers_[position]->offer.contact.node == partner) return false;
  if (std::find(picked.begin(), picked.end(), position) != picked.end()) return false;
  picked.push_back(position);
  return true;
}

void OfferCache::add_rare(std::size_t count, std::size_t rare_class_max, const NodeId& partner,
                          std::vector<std::size_t>& picked) {
  std::vector<const std::string*> rare;
  for (const auto& [name, holders] : classes_) {
    if (holders <= rare_class_max) rare.push_back(&name);
  }
  for (std::size_t i = 0; i < rare.size() && i < count; ++i) {
    std::swap(rare[i], rare[i + prng_.below(rare.size() - i)]);
    std::vector<std::size_t> holders;
    for (std::size_t position = 0; position < entries_.size(); ++position) {
      for (Classes::iterator row : entries_[position].classes) {
        if (&row->first == rare[i]) holders.push_back(position);
      }
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
    if (is_own(entries_[position]) || !offer.contact.endpoint.known()) continue;
    const bool in_region = offer.region == own_region_;
    if (where == Where::anywhere || in_region == (where == Where::own_region)) return offer.contact;
  }
  return std::nullopt;
}

}  // namespace abacus
