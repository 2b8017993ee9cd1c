// Quotes are named in sequence, so a name finds its entry by position.
#include "core/selling/quote_book.h"

#include <algorithm>

namespace abacus {
namespace {

std::uint64_t cpu_of(const OpenQuote& quote) { return std::uint64_t{quote.bundle.cpu_milli} * slots_of(quote.lots); }

}  // namespace

std::uint32_t slots_of(const std::vector<Lot>& lots) {
  std::uint32_t slots = 0;
  for (const Lot& lot : lots) slots += lot.count;
  return slots;
}

std::uint64_t QuoteBook::add(OpenQuote quote) {
  if (entries_.size() >= size_) {
    drop(front_);
    ++front_;
    entries_.pop_front();
  }
  std::uint64_t name = front_ + entries_.size();
  expiries_.insert({quote.expires, name});
  if (quote.counts_as_taken) counted_.insert(name);
  cpu_out_ += cpu_of(quote);
  cpu_out_of_[quote.buyer] += cpu_of(quote);
  entries_.push_back({std::move(quote), true});
  return name;
}

QuoteBook::Entry* QuoteBook::entry(std::uint64_t quote) {
  std::uint64_t position = quote - front_;
  return position < entries_.size() ? &entries_[position] : nullptr;
}

const OpenQuote* QuoteBook::find(const NodeId& buyer, std::uint64_t quote, MonoTime now) const {
  std::uint64_t position = quote - front_;
  if (position >= entries_.size()) return nullptr;
  const Entry& found = entries_[position];
  bool valid = found.live && found.quote.buyer == buyer && found.quote.expires >= now;
  return valid ? &found.quote : nullptr;
}

void QuoteBook::use(std::uint64_t quote) { drop(quote); }

void QuoteBook::expire(MonoTime now) {
  while (!expiries_.empty() && expiries_.begin()->first < now) drop(expiries_.begin()->second);
  while (!entries_.empty() && !entries_.front().live) {
    entries_.pop_front();
    ++front_;
  }
}

std::optional<MonoTime> QuoteBook::next_expiry() const {
  if (expiries_.empty()) return std::nullopt;
  return expiries_.begin()->first;
}

void QuoteBook::drop(std::uint64_t quote) {
  Entry* found = entry(quote);
  if (found == nullptr || !found->live) return;
  found->live = false;
  expiries_.erase({found->quote.expires, quote});
  counted_.erase(quote);
  std::uint64_t cpu = cpu_of(found->quote);
  cpu_out_ -= cpu;
  auto of_buyer = cpu_out_of_.find(found->quote.buyer);
  of_buyer->second -= cpu;
  if (of_buyer->second == 0) cpu_out_of_.erase(of_buyer);
}

QuoteBook::Out QuoteBook::counted_out(const NodeId& except) const {
  Out out;
  for (std::uint64_t name : counted_) {
    const OpenQuote& quote = entries_[name - front_].quote;
    if (quote.buyer == except) continue;
    std::uint32_t slots = slots_of(quote.lots);
    out.cpu_milli += std::uint64_t{quote.bundle.cpu_milli} * slots;
    out.memory_bytes += quote.bundle.memory_bytes * slots;
    out.disk_bytes += quote.bundle.disk_bytes * slots;
    for (DeviceNeed need : quote.bundle.devices) {
      need.count *= slots;
      out.devices.push_back(std::move(need));
    }
  }
  return out;
}

std::uint64_t QuoteBook::cpu_out(const NodeId& except) const {
  auto found = cpu_out_of_.find(except);
  return cpu_out_ - (found == cpu_out_of_.end() ? 0 : found->second);
}

}  // namespace abacus
