// Survey and draw.
#include "core/buying/shortlist.h"

#include <algorithm>
#include <limits>

#include "base/int128.h"

namespace abacus {
namespace {

bool allowed(const Wanted& wanted, const std::string& region) {
  return wanted.regions.empty() ||
         std::find(wanted.regions.begin(), wanted.regions.end(), region) != wanted.regions.end();
}

/// Needed over available, in thousandths, of the worst dimension; fewer dimensions come before smaller gaps.
std::pair<std::size_t, std::uint64_t> gap(const std::vector<Shortfall>& missing) {
  std::uint64_t worst = 0;
  for (const Shortfall& shortfall : missing) {
    worst = std::max(worst, shortfall.needed / (shortfall.available / 1000 + 1));
  }
  return {missing.size(), worst};
}

void keep_nearest(Field& field, const Offer& offer, const Bundle& bundle) {
  std::vector<Shortfall> missing = shortfalls(offer.capacity, bundle);
  if (field.nearest && gap(field.nearest->shortfalls) <= gap(missing)) return;
  field.nearest = NearMiss{offer.contact.node, offer.region, std::move(missing)};
}

/// Walks the notes beside the offers: both are in order of node id.
class NotesBeside {
 public:
  explicit NotesBeside(const SellerBook::Map& notes) : at_(notes.begin()), end_(notes.end()) {}

  const SellerNotes* of(const NodeId& node) {
    while (at_ != end_ && at_->first < node) ++at_;
    return at_ != end_ && at_->first == node ? &at_->second : nullptr;
  }

 private:
  SellerBook::Map::const_iterator at_;
  SellerBook::Map::const_iterator end_;
};

const HeardPrice* heard(const Candidate& candidate, Shape shape) {
  const auto* notes = candidate.notes ? candidate.notes->find(shape) : nullptr;
  return notes && notes->heard ? &*notes->heard : nullptr;
}

constexpr std::uint64_t kFullWeight = 1 << 20;

/// Weights fall with the square of the expected score; sellers without a price are taken to be as good as the best.
std::vector<std::uint64_t> weights(const Field& field, const Wanted& wanted) {
  std::vector<std::int64_t> scores(field.open.size(), 0);
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < field.open.size(); ++i) {
    const HeardPrice* price = heard(field.open[i], wanted.shape);
    if (!price) continue;
    scores[i] =
        std::max<std::int64_t>(score(price->lots.front(), wanted.terms, odds_of(*field.open[i].notes, {})).micro, 1);
    best = std::min(best, scores[i]);
  }
  std::vector<std::uint64_t> result;
  result.reserve(field.open.size());
  for (std::size_t i = 0; i < field.open.size(); ++i) {
    auto ratio = scores[i] > 0 ? static_cast<std::uint64_t>(static_cast<Int128>(best) * 1024 / scores[i]) : 1024;
    std::uint64_t weight = ratio * ratio * (kFullWeight >> 20);
    if (const HeardPrice* price = heard(field.open[i], wanted.shape); price && price->room() == 0) weight /= 8;
    if (wanted.near_first && field.open[i].offer->region != wanted.own_region) weight /= 16;
    result.push_back(weight + 1);
  }
  return result;
}

/// The open candidates and who of them is taken already.
class Drawing {
 public:
  Drawing(const Peers& peers, const Field& field, std::vector<std::uint64_t> weights)
      : peers_(peers), field_(field), weights_(std::move(weights)) {
    for (std::uint64_t weight : weights_) total_ += weight;
  }

  bool exhausted() const { return total_ == 0; }
  std::vector<Candidate> taken;

  void take(std::size_t i) {
    total_ -= weights_[i];
    weights_[i] = 0;
    if (!peers_.is_suspect(field_.open[i].offer->contact.node)) taken.push_back(field_.open[i]);
  }

  void take_weighted(Prng& prng) {
    std::uint64_t left = prng.below(total_);
    std::size_t i = 0;
    while (left >= weights_[i]) left -= weights_[i++];
    take(i);
  }

  bool available(std::size_t i) const { return weights_[i] > 0; }

 private:
  const Peers& peers_;
  const Field& field_;
  std::vector<std::uint64_t> weights_;
  std::uint64_t total_ = 0;
};

void take_unknown(Drawing& drawing, const Field& field, const Wanted& wanted, Prng& prng) {
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < field.open.size(); ++i) {
    if (drawing.available(i) && !heard(field.open[i], wanted.shape)) unknown.push_back(i);
  }
  if (!unknown.empty()) drawing.take(unknown[prng.below(unknown.size())]);
}

void pass_over_region(Field& field, const std::string& region) {
  ++field.other_regions;
  std::vector<std::string>& seen = field.seen_regions;
  auto at = std::lower_bound(seen.begin(), seen.end(), region);
  bool known = at != seen.end() && *at == region;
  if (!known && !region.empty() && seen.size() < kSeenRegions) seen.insert(at, region);
}

}  // namespace

Field survey(const Peers& peers, const SellerBook& sellers, const Wanted& wanted, const std::vector<NodeId>& without,
             Now now) {
  Field field;
  NotesBeside beside(sellers.all());
  for (const OfferRef& signed_offer : peers.offers(now.wall)) {
    const Offer& offer = signed_offer->offer;
    ++field.nodes;
    if (!allowed(wanted, offer.region)) {
      pass_over_region(field, offer.region);
      continue;
    }
    std::uint32_t slots = slots_that_fit(offer.capacity, wanted.bundle);
    if (slots == 0) {
      if (field.feasible == 0) keep_nearest(field, offer, wanted.bundle);
      continue;
    }
    ++field.feasible;
    if (std::find(without.begin(), without.end(), offer.contact.node) != without.end()) continue;
    const SellerNotes* notes = beside.of(offer.contact.node);
    const auto* for_shape = notes ? notes->find(wanted.shape) : nullptr;
    if (for_shape && !for_shape->cool_down.over(now)) {
      MonoTime until = for_shape->cool_down.until;
      if (!field.cool_until || until < *field.cool_until) field.cool_until = until;
      continue;
    }
    field.open.push_back({&offer, notes, slots});
  }
  return field;
}

std::vector<Candidate> draw(const Peers& peers, const Field& field, const Wanted& wanted, std::uint32_t count,
                            Prng& prng) {
  Drawing drawing(peers, field, weights(field, wanted));
  for (std::size_t i = 0; i < field.open.size(); ++i) {
    if (field.open[i].offer->contact.node == wanted.self) drawing.take(i);
  }
  while (!drawing.exhausted() && drawing.taken.size() + 1 < count) drawing.take_weighted(prng);
  if (drawing.taken.size() < count) take_unknown(drawing, field, wanted, prng);
  while (!drawing.exhausted() && drawing.taken.size() < count) drawing.take_weighted(prng);
  return std::move(drawing.taken);
}

}  // namespace abacus
