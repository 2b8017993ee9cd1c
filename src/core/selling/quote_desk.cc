// Quotes and declines, and the judging of awards.
#include "core/selling/quote_desk.h"

#include <algorithm>
#include <utility>

#include "base/int128.h"

namespace abacus {
namespace {

constexpr std::size_t kRegionsRemembered = 4'096;
constexpr Duration kFirmMax = seconds(1);
constexpr Duration kUnknownRun = seconds(10);  ///< Assumed where a buyer does not know how long its tasks run.

/// Lots dearer than the limit are of no use to the buyer.
void cut(std::vector<Lot>& lots, std::optional<Price> limit) {
  if (!limit) return;
  while (!lots.empty() && lots.back().price > *limit) lots.pop_back();
}

void subtract(std::uint64_t& from, std::uint64_t amount) { from -= std::min(from, amount); }

void subtract(Capacity& free, const QuoteBook::Out& out, std::uint32_t permille) {
  auto weighed = [&](std::uint64_t amount) {
    return static_cast<std::uint64_t>(static_cast<Uint128>(amount) * permille / 1'000);
  };
  free.cpu_milli -= static_cast<std::uint32_t>(std::min<std::uint64_t>(free.cpu_milli, weighed(out.cpu_milli)));
  subtract(free.memory_bytes, weighed(out.memory_bytes));
  subtract(free.disk_bytes, weighed(out.disk_bytes));
  for (const DeviceNeed& need : out.devices) {
    std::uint64_t wanted = weighed(need.count);
    for (DeviceStock& stock : free.devices) {
      if (!serves(stock, need)) continue;
      auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, stock.count));
      stock.count -= taken;
      wanted -= taken;
    }
  }
}

}  // namespace

QuoteDesk::QuoteDesk(const SellingConfig& config, const PricingConfig& pricing, std::string region, const Room& room,
                     Prng prng, std::uint32_t multiplier_permille)
    : config_(config),
      region_(std::move(region)),
      room_(room),
      pricing_(pricing),
      multiplier_(pricing, multiplier_permille),
      book_(std::max<std::size_t>(config.quotes_max, 1), prng.next() >> 1 | 1),
      call_backs_(config.call_backs_max, config.call_back_for) {
  multiplier_.set_pace({}, config.round_trip);
}

bool QuoteDesk::counts_as_taken(Duration expected_run) const {
  Duration run = expected_run.ns > 0 ? expected_run : kUnknownRun;
  return config_.round_trip > run / 100;
}

Duration QuoteDesk::valid_for(Duration expected_run) const {
  Duration run = expected_run.ns > 0 ? expected_run : kUnknownRun;
  return std::max(config_.round_trip * 3, std::min(kFirmMax, run / 10));
}

std::uint32_t QuoteDesk::room_permille(const NodeId& buyer, const Bundle& bundle, std::uint32_t count) const {
  std::uint64_t wanted = std::uint64_t{bundle.cpu_milli} * count + book_.cpu_out(buyer);
  std::uint64_t free = room_.free().cpu_milli;
  return wanted <= free ? 1'000 : static_cast<std::uint32_t>(std::max<std::uint64_t>(free * 1'000 / wanted, 1));
}

QuoteDesk::Answer QuoteDesk::answer(const Contact& buyer, const Rfq& rfq, Duration free_in, Now now) {
  return consider(buyer, rfq, counts_as_taken(rfq.expected_run), free_in, now);
}

std::optional<DeclineDetail> QuoteDesk::never_possible(const Bundle& bundle, Duration lease_time) const {
  DeclineDetail detail;
  if (slots_that_fit(room_.capacity(), bundle) == 0) {
    detail.reason = DeclineReason::never_fits;
    detail.shortfalls = shortfalls(room_.capacity(), bundle);
    return detail;
  }
  if (lease_time <= config_.lease_time_max) return std::nullopt;
  detail.reason = DeclineReason::lease_too_long;
  return detail;
}

QuoteDesk::Answer QuoteDesk::consider(const Contact& buyer, const Rfq& rfq, bool firm_room, Duration free_in, Now now) {
  book_.expire(now.mono);
  multiplier_.advance(now.mono);
  if (auto never = never_possible(rfq.bundle, rfq.lease_time)) return std::move(*never);
  std::optional<Capacity> left;
  if (book_.any_counted()) {
    left = room_.free();
    subtract(*left, book_.counted_out(buyer.node), config_.quotes_out_permille);
  }
  const Capacity& free = left ? *left : room_.free();
  std::uint32_t fit = slots_that_fit(free, rfq.bundle);
  if (fit == 0) {
    DeclineDetail detail;
    detail.reason = DeclineReason::no_room;
    detail.shortfalls = shortfalls(free, rfq.bundle);
    detail.free_in = free_in;
    return detail;
  }
  return quote(buyer, rfq, free, std::min(fit, std::max(rfq.count, 1u)), firm_room, now);
}

QuoteDesk::Answer QuoteDesk::quote(const Contact& buyer, const Rfq& rfq, const Capacity& free, std::uint32_t count,
                                   bool firm_room, Now now) {
  Load load{room_.capacity(), free};
  std::vector<Lot> lots = pricing_.supply(load, rfq.bundle, count, multiplier_.value(), now.wall);
  Price lowest = lots.front().price;
  cut(lots, rfq.price_limit);
  if (lots.empty()) {
    DeclineDetail detail;
    detail.reason = DeclineReason::price_too_low;
    detail.lowest_price = lowest;
    detail.nearest_count = count;
    return detail;
  }
  bool same_region = rfq.region == region_;
  for (Lot& lot : lots) lot.fee = pricing_.fee(rfq.input_bytes, same_region);
  Quote quote;
  quote.negotiation = rfq.negotiation;
  quote.round = rfq.round;
  quote.valid_for = valid_for(rfq.expected_run);
  quote.lease_time_max = config_.lease_time_max;
  quote.room_permille = room_permille(buyer.node, rfq.bundle, slots_of(lots));
  quote.region = region_;
  quote.reason = pricing_.price(load, rfq.bundle, slots_of(lots), multiplier_.value(), now.wall).reason;
  ++quotes_given_;
  if (!rfq.plan_only) {
    if (rfq.input_bytes > 0) remember_region(buyer.node, same_region);
    quote.quote = book_.add(
        {buyer.node, rfq.negotiation, rfq.bundle, rfq.input_bytes, lots, now.mono + quote.valid_for, firm_room});
    call_backs_.forget(buyer.node, rfq.negotiation);
  }
  quote.lots = std::move(lots);
  return quote;
}

void QuoteDesk::call_back_later(const Contact& buyer, const TraceContext& trace, const Rfq& rfq, Now now) {
  call_backs_.expire(now.mono);
  call_backs_.remember({buyer, trace, rfq, now.mono});
}

// ---- awards ---------------------------------------------------------------------------------------------------------

std::optional<DeclineDetail> QuoteDesk::objection(const Award& award, Now now) {
  book_.expire(now.mono);
  multiplier_.advance(now.mono);
  if (auto never = never_possible(award.bundle, award.lease_time)) return never;
  Price asked;
  if (price_holds(award, now, asked)) return std::nullopt;
  DeclineDetail detail;
  bool known = book_.find(award.buyer.node, award.quote, now.mono) != nullptr;
  detail.reason = award.quote != 0 && !known ? DeclineReason::quote_expired : DeclineReason::price_too_low;
  detail.lowest_price = asked;
  detail.nearest_count = slots_that_fit(room_.free(), award.bundle);
  return detail;
}

bool QuoteDesk::price_holds(const Award& award, Now now, Price& asked) {
  if (const OpenQuote* quote = book_.find(award.buyer.node, award.quote, now.mono)) {
    const Lot* lot = lot_for(quote->lots, award.slots);
    bool same = quote->bundle == award.bundle && award.input_bytes <= quote->input_bytes;
    if (same && lot != nullptr && award.price >= lot->price && award.fee >= lot->fee) return true;
  }
  // Fewer slots than awarded may be left, and those are what the price must hold for.
  std::uint32_t slots = std::min(award.slots, slots_that_fit(room_.free(), award.bundle));
  Load load{room_.capacity(), room_.free()};
  asked = pricing_.price(load, award.bundle, std::max(slots, 1u), multiplier_.value(), now.wall).price;
  return award.price >= asked && award.fee >= pricing_.fee(award.input_bytes, known_near(award.buyer.node));
}

void QuoteDesk::awarded(const Award& award) {
  book_.use(award.quote);
  call_backs_.forget(award.buyer.node, award.negotiation);
}

Rfq QuoteDesk::question_of(const Award& award) const {
  Rfq rfq;
  rfq.negotiation = award.negotiation;
  rfq.bundle = award.bundle;
  rfq.count = award.slots;
  rfq.lease_time = award.lease_time;
  rfq.input_bytes = award.input_bytes;
  if (known_near(award.buyer.node)) rfq.region = region_;
  return rfq;
}

Price QuoteDesk::present_price(const Bundle& bundle, Now now) {
  multiplier_.advance(now.mono);
  return pricing_.price({room_.capacity(), room_.free()}, bundle, 0, multiplier_.value(), now.wall).price;
}

void QuoteDesk::remember_region(const NodeId& buyer, bool same) {
  if (!near_.insert_or_assign(buyer, same).second) return;
  near_order_.push_back(buyer);
  if (near_order_.size() <= kRegionsRemembered) return;
  near_.erase(near_order_.front());
  near_order_.pop_front();
}

bool QuoteDesk::known_near(const NodeId& buyer) const {
  auto found = near_.find(buyer);
  return found != near_.end() && found->second;
}

// ---- room appears ---------------------------------------------------------------------------------------------------

void QuoteDesk::observe(Now now) { multiplier_.observe(now.mono, utilisation({room_.capacity(), room_.free()})); }

void QuoteDesk::set_pace(Duration mean_run) { multiplier_.set_pace(mean_run, config_.round_trip); }

void QuoteDesk::serve_waiting(Duration free_in, Now now, Effects& fx) {
  call_backs_.expire(now.mono);
  if (call_backs_.askers().empty()) return call_at_.reset();
  if (last_call_ && now.mono < *last_call_ + config_.call_back_pause) {
    call_at_ = *last_call_ + config_.call_back_pause;
    return;
  }
  call_at_.reset();
  for (std::size_t i = 0; i < call_backs_.askers().size(); ++i) {
    Asker asker = call_backs_.askers()[i];
    Answer made = consider(asker.buyer, asker.rfq, true, free_in, now);
    if (auto* quote = std::get_if<Quote>(&made)) {
      fx.send(asker.buyer, asker.trace, CallBack{std::move(*quote)});
      last_call_ = now.mono;
      // The quote has taken it off the list; whoever fits next is called after the pause.
      if (!call_backs_.askers().empty()) call_at_ = now.mono + config_.call_back_pause;
      return;
    }
  }
  // What is promised to others may come free again without a lease ending.
  if (book_.any_counted())
    call_at_ = std::max(*book_.next_expiry() + nanoseconds(1), now.mono + config_.call_back_pause);
}

}  // namespace abacus
