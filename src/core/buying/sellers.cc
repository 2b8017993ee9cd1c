// The buyer's own experience with sellers.
#include "core/buying/sellers.h"

#include <algorithm>
#include <numeric>

#include "protocol/codec.h"

namespace abacus {

Shape shape_of(const Bundle& bundle) {
  Shape hash = 0xcbf29ce484222325;  // FNV-1a
  for (std::uint8_t byte : encode(bundle)) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

std::uint32_t HeardPrice::room() const {
  std::uint64_t slots = 0;
  for (const Lot& lot : lots) slots += lot.count;
  return static_cast<std::uint32_t>(slots > taken ? std::min<std::uint64_t>(slots - taken, limits::kSlots) : 0);
}

const Lot& HeardPrice::lot_for(std::uint32_t slots) const {
  std::uint64_t reached = 0, wanted = std::uint64_t{taken} + slots;
  for (std::size_t i = 0; i + 1 < lots.size(); ++i) {
    reached += lots[i].count;
    if (reached >= wanted) return lots[i + 1];
  }
  return lots.back();
}

void Evidence::add(bool success) {
  ++(success ? good : bad);
  if (good + bad <= 200) return;
  good /= 2;
  bad /= 2;
}

SellerNotes::ForShape& SellerNotes::shape(Shape wanted) {
  auto found = std::find_if(shapes.begin(), shapes.end(), [&](const ForShape& s) { return s.shape == wanted; });
  if (found != shapes.end()) return *found;
  if (shapes.size() == kShapes) shapes.erase(shapes.begin());
  shapes.push_back({wanted, {}, {}});
  return shapes.back();
}

const SellerNotes::ForShape* SellerNotes::find(Shape wanted) const {
  auto found = std::find_if(shapes.begin(), shapes.end(), [&](const ForShape& s) { return s.shape == wanted; });
  return found == shapes.end() ? nullptr : &*found;
}

SellerNotes& SellerBook::at(const NodeId& seller, Now now) {
  auto found = notes_.find(seller);
  if (found == notes_.end()) {
    if (notes_.size() >= sellers_max_) make_room();
    found = notes_.try_emplace(seller).first;
  }
  found->second.touched = now.mono;
  return found->second;
}

void SellerBook::make_room() {
  std::vector<MonoTime> ages;
  ages.reserve(notes_.size());
  for (const auto& [seller, notes] : notes_) ages.push_back(notes.touched);
  std::nth_element(ages.begin(), ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 4), ages.end());
  MonoTime old = ages[ages.size() / 4];
  std::erase_if(notes_,
                [&](const auto& entry) { return entry.second.touched <= old && entry.second.awards_in_flight == 0; });
}

std::optional<Price> SellerBook::last_price(const NodeId& seller) const {
  auto found = notes_.find(seller);
  return found == notes_.end() ? std::nullopt : found->second.last_price;
}

void SellerBook::hear(const NodeId& seller, Shape shape, const Quote& quote, Now now) {
  HeardPrice heard;
  heard.lots = quote.lots;
  heard.negotiation = quote.negotiation;
  heard.quote = quote.quote;
  heard.at = now.mono;
  heard.firm_until = now.mono + std::clamp(quote.valid_for, Duration{}, seconds(60));
  heard.lease_time_max = quote.lease_time_max;
  SellerNotes& notes = at(seller, now);
  notes.last_price = quote.lots.front().price;
  notes.shape(shape).heard = std::move(heard);
}

void SellerBook::take_room(const NodeId& seller, Shape shape, std::uint32_t slots, Now now) {
  auto& heard = at(seller, now).shape(shape).heard;
  if (!heard) return;
  heard->taken = std::min(heard->taken + slots, limits::kSlots);
  heard->quote = 0;
}

}  // namespace abacus
