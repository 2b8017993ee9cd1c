// Price arithmetic: 128-bit integers in steps of 2^-16 micro-credits a second, rounded once at the end.
#include "core/pricing/pricing.h"

#include <algorithm>

#include "base/check.h"
#include "base/int128.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

constexpr Int128 kStep = 1 << 16;  // Steps in a micro-credit a second.
constexpr std::int64_t kWattSecondsPerKwh = 3'600'000;
constexpr std::int64_t kKibPerGib = 1 << 20;
constexpr std::uint32_t kLotsMax = 8;
/// A rate past this gives the greatest price at any load and multiplier, and the product with the load still fits.
constexpr Int128 kBaseMax = static_cast<Int128>(1) << 78;

/// One dimension of a bundle: how much a slot takes, what a unit costs, and how much of it is in use.
struct Dimension {
  std::int64_t amount = 0;
  std::int64_t unit = 1;  ///< Amount that rates and watts are stated for.
  Price rate;
  std::int64_t milliwatts = 0;
  std::uint64_t capacity = 0;
  std::uint64_t free = 0;
  std::uint64_t per_slot = 0;  ///< In the units of capacity and free.
};

Fixed share_used(std::uint64_t capacity, std::uint64_t free, Int128 further) {
  if (capacity == 0) return Fixed::whole(further > 0 ? 1 : 0);
  Int128 used = static_cast<Int128>(capacity) - std::min(free, capacity) + further;
  if (used >= static_cast<Int128>(capacity)) return Fixed::whole(1);
  return {static_cast<std::int64_t>(used * Fixed::kOne / static_cast<Int128>(capacity))};
}

std::int64_t kib(std::uint64_t bytes) {
  return static_cast<std::int64_t>(std::min(bytes, limits::kMaxBytesOfMemory) / 1024 + (bytes % 1024 > 0 ? 1 : 0));
}

struct Terms {
  Int128 energy = 0;
  Int128 capacity = 0;  ///< Before load.
  Int128 loaded = 0;
  Fixed highest;
};

void add(Terms& terms, const Dimension& d, std::uint32_t slots, Fixed multiplier, std::int64_t tariff) {
  if (d.amount == 0) return;
  Fixed u = share_used(d.capacity, d.free, static_cast<Int128>(d.per_slot) * slots);
  Fixed factor = multiplier / (Fixed::ratio(110, 100) - u);
  Int128 base = std::min(static_cast<Int128>(d.rate.micro_per_s) * d.amount * kStep / d.unit, kBaseMax);
  terms.energy += divide_nearest(static_cast<Int128>(d.amount) * d.milliwatts * tariff * kStep,
                                 static_cast<Int128>(d.unit) * 1'000 * kWattSecondsPerKwh);
  terms.capacity += base;
  terms.loaded += base * factor.raw / Fixed::kOne;
  terms.highest = std::max(terms.highest, u);
}

std::int64_t clamp_price(Int128 micro_per_s, std::int64_t low) {
  return static_cast<std::int64_t>(std::clamp<Int128>(micro_per_s, low, kMaxPriceMicroPerS));
}

/// The stock that could serve a need, and how much of it is free.
std::pair<std::uint64_t, std::uint64_t> stock_for(const Load& load, const DeviceNeed& need) {
  std::uint64_t capacity = 0, free = 0;
  for (const DeviceStock& stock : load.capacity.devices) capacity += serves(stock, need) ? stock.count : 0;
  for (const DeviceStock& stock : load.free.devices) free += serves(stock, need) ? stock.count : 0;
  return {capacity, free};
}

}  // namespace

Fixed utilisation(const Load& load) {
  Fixed highest = std::max(share_used(load.capacity.cpu_milli, load.free.cpu_milli, 0),
                           share_used(load.capacity.memory_bytes, load.free.memory_bytes, 0));
  for (const DeviceStock& stock : load.capacity.devices) {
    auto [capacity, free] = stock_for(load, {stock.kind, "", 1});
    highest = std::max(highest, share_used(capacity, free, 0));
  }
  return highest;
}

Pricing::Pricing(PricingConfig config) : config_(std::move(config)) {
  CHECK_MSG(validate(config_).has_value(), "pricing configuration out of range");
}

Pricing::Priced Pricing::price(const Load& load, const Bundle& bundle, std::uint32_t slots, Fixed multiplier,
                               WallTime at) const {
  std::int64_t tariff = tariff_micro_per_kwh(at);
  Terms terms;
  add(terms,
      {bundle.cpu_milli, 1'000, config_.cpu_rate, config_.milliwatts_per_cpu, load.capacity.cpu_milli,
       load.free.cpu_milli, bundle.cpu_milli},
      slots, multiplier, tariff);
  add(terms,
      {kib(bundle.memory_bytes), kKibPerGib, config_.memory_rate, config_.milliwatts_per_gib,
       load.capacity.memory_bytes, load.free.memory_bytes, bundle.memory_bytes},
      slots, multiplier, tariff);
  for (const DeviceNeed& need : bundle.devices) {
    const DeviceRate& rate = rate_of(need.kind);
    auto [capacity, free] = stock_for(load, need);
    add(terms, {need.count, 1, rate.capacity_rate, rate.milliwatts, capacity, free, need.count}, slots, multiplier,
        tariff);
  }
  Priced result;
  result.price.micro_per_s = clamp_price(divide_up(terms.energy + terms.loaded, kStep), 0);
  result.reason.energy.micro_per_s = clamp_price(divide_nearest(terms.energy, kStep), -kMaxPriceMicroPerS);
  result.reason.capacity.micro_per_s = clamp_price(divide_nearest(terms.capacity, kStep), 0);
  result.reason.multiplier_permille =
      static_cast<std::uint32_t>(divide_nearest(static_cast<Int128>(multiplier.raw) * 1'000, Fixed::kOne));
  result.reason.utilisation_permille =
      static_cast<std::uint32_t>(static_cast<Int128>(terms.highest.raw) * 1'000 / Fixed::kOne);
  return result;
}

std::vector<Lot> Pricing::supply(const Load& load, const Bundle& bundle, std::uint32_t count, Fixed multiplier,
                                 WallTime at) const {
  CHECK(count > 0);
  std::vector<Lot> lots;
  std::uint32_t reach = (count - 1) / (1u << (kLotsMax - 1)) + 1, sold = 0;
  while (sold < count) {
    reach = std::min(reach, count);
    Price price = this->price(load, bundle, reach, multiplier, at).price;
    if (!lots.empty() && lots.back().price == price) {
      lots.back().count += reach - sold;
    } else {
      lots.push_back({reach - sold, price, {}, {}});
    }
    sold = reach;
    reach *= 2;
  }
  return lots;
}

Money Pricing::fee(std::uint64_t input_bytes, bool same_region) const {
  Money per_gib = same_region ? config_.fee_per_gib_near : config_.fee_per_gib_far;
  Int128 micro = divide_up(static_cast<Int128>(input_bytes) * per_gib.micro, 1 << 30);
  return {static_cast<std::int64_t>(std::min<Int128>(micro, limits::kMaxMoneyMicro))};
}

std::int64_t Pricing::tariff_micro_per_kwh(WallTime at) const {
  const auto& hourly = config_.hourly_micro_per_kwh;
  if (hourly.empty()) return config_.tariff_micro_per_kwh;
  auto size = static_cast<Int128>(hourly.size());
  Int128 span = static_cast<Int128>(at.ns) - config_.hourly_from.ns;
  Int128 hour = span / hours(1).ns - (span % hours(1).ns < 0 ? 1 : 0);
  return hourly[static_cast<std::size_t>((hour % size + size) % size)];
}

const DeviceRate& Pricing::rate_of(const std::string& kind) const {
  for (const DeviceRate& rate : config_.devices) {
    if (rate.kind == kind) return rate;
  }
  return config_.other_device;
}

const Lot* lot_for(const std::vector<Lot>& lots, std::uint32_t slots) {
  std::uint64_t reach = 0;
  for (const Lot& lot : lots) {
    reach += lot.count;
    if (slots <= reach) return &lot;
  }
  return nullptr;
}

}  // namespace abacus
