// Prices: the formula by hand, monotone, bounded, energy apart, tariffs by the hour, supply curves, fees.
#include "core/pricing/pricing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "protocol/limits.h"

namespace abacus {
namespace {

constexpr std::uint64_t kGib = 1ull << 30;

PricingConfig plain() {
  PricingConfig config;
  config.milliwatts_per_cpu = config.milliwatts_per_gib = 0;
  config.cpu_rate = Price{100};
  config.memory_rate = Price{10};
  config.devices = {{"gpu", 0, Price{5'000}}};
  return config;
}

Capacity node() { return {64'000, 256 * kGib, 0, {{"gpu", "a100", 8, 0, false}}}; }

Capacity with_cpu_free(std::uint32_t cpu_milli) {
  Capacity free = node();
  free.cpu_milli = cpu_milli;
  return free;
}

Price price(const PricingConfig& config, const Capacity& free, const Bundle& bundle, std::uint32_t slots,
            Fixed m = Fixed::whole(1), WallTime at = {}) {
  Capacity capacity = node();
  return Pricing(config).price({capacity, free}, bundle, slots, m, at).price;
}

TEST(Pricing, FormulaByHand) {
  Bundle one{1'000, 0, 0, {}};
  // 100 / (1.10 - 1/64) = 92.22, rounded up.
  EXPECT_EQ(price(plain(), node(), one, 1).micro_per_s, 93);
  // Full: 100 / 0.10. Twice the multiplier, twice the price.
  EXPECT_EQ(price(plain(), node(), one, 64).micro_per_s, 1'000);
  EXPECT_EQ(price(plain(), node(), one, 64, Fixed::whole(2)).micro_per_s, 2'000);
  // A dimension each: CPU 400 / (1.10 - 4/64), memory 320 / (1.10 - 32/256), a device 5000 / (1.10 - 1/8).
  Bundle mixed{4'000, 32 * kGib, 0, {{"gpu", "", 1}}};
  EXPECT_NEAR(static_cast<double>(price(plain(), node(), mixed, 1).micro_per_s), 385.54 + 328.21 + 5128.21, 1.5);
}

TEST(Pricing, EnergyByHandAndItsSign) {
  PricingConfig config = plain();
  config.milliwatts_per_cpu = 10'000;
  config.tariff_micro_per_kwh = 3'600'000;  // 10 W: 10 micro-credits a second.
  Bundle one{1'000, 0, 0, {}};
  Capacity capacity = node();
  auto dear = Pricing(config).price({capacity, capacity}, one, 1, Fixed::whole(1), {});
  EXPECT_EQ(dear.price.micro_per_s, 103);
  EXPECT_EQ(dear.reason.energy, Price{10});
  config.tariff_micro_per_kwh = -3'600'000;
  auto cheap = Pricing(config).price({capacity, capacity}, one, 1, Fixed::whole(1), {});
  EXPECT_EQ(cheap.price.micro_per_s, 83);
  EXPECT_EQ(cheap.reason.energy, Price{-10});
  EXPECT_EQ(cheap.reason.capacity, dear.reason.capacity);
  EXPECT_EQ(cheap.reason.utilisation_permille, dear.reason.utilisation_permille);
  config.tariff_micro_per_kwh = -360'000'000;
  EXPECT_EQ(price(config, node(), one, 1), Price{0}) << "nobody earns by holding a slot";
}

TEST(Pricing, ReasonNamesItsParts) {
  Capacity capacity = node(), free = with_cpu_free(32'000);
  auto priced = Pricing(plain()).price({capacity, free}, {2'000, 0, 0, {}}, 8, Fixed::ratio(3, 2), {});
  EXPECT_EQ(priced.reason.capacity, Price{200});
  EXPECT_EQ(priced.reason.multiplier_permille, 1'500u);
  EXPECT_EQ(priced.reason.utilisation_permille, 750u);
}

TEST(Pricing, HourlyTariffsRepeatBothWays) {
  PricingConfig config = plain();
  config.hourly_micro_per_kwh = {1, 2, 3};
  config.hourly_from = WallTime{hours(100).ns};
  Pricing pricing(config);
  auto at = [&](std::int64_t hour) { return pricing.tariff_micro_per_kwh(WallTime{hours(hour).ns + 1}); };
  EXPECT_EQ(at(100), 1);
  EXPECT_EQ(at(102), 3);
  EXPECT_EQ(at(103), 1);
  EXPECT_EQ(at(99), 3);
  EXPECT_EQ(at(97), 1);
}

TEST(Pricing, FeesByDistance) {
  PricingConfig config = plain();
  config.fee_per_gib_near = micro_credits(5);
  config.fee_per_gib_far = micro_credits(1'000);
  Pricing pricing(config);
  EXPECT_EQ(pricing.fee(0, false), Money{});
  EXPECT_EQ(pricing.fee(2 * kGib, true), micro_credits(10));
  EXPECT_EQ(pricing.fee(2 * kGib + 1, false), micro_credits(2'001));
  config.fee_per_gib_far = {limits::kMaxMoneyMicro};
  EXPECT_EQ(Pricing(config).fee(~0ull, false), Money{limits::kMaxMoneyMicro});
}

TEST(Pricing, ConfigurationOutOfRangeIsNamed) {
  PricingConfig config;
  EXPECT_TRUE(validate(config).has_value());
  config.target_permille = 1'001;
  Status status = validate(config);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("target utilisation"), std::string::npos);
}

RC_GTEST_PROP(PricingProperty, MonotoneInLoadSlotsAndMultiplier, ()) {
  auto used = *rc::gen::inRange<std::uint32_t>(0, 64'000);
  auto more = *rc::gen::inRange<std::uint32_t>(0, 64'001 - used);
  auto slots = *rc::gen::inRange<std::uint32_t>(1, 64);
  auto further = *rc::gen::inRange<std::uint32_t>(0, 64);
  auto m = *rc::gen::inRange<std::int64_t>(300, 8'000);
  Bundle bundle{*rc::gen::inRange<std::uint32_t>(1, 4'000), *rc::gen::inRange<std::uint64_t>(0, 4 * kGib), 0, {}};
  Price base = price(plain(), with_cpu_free(64'000 - used), bundle, slots, Fixed::ratio(m, 1'000));
  RC_ASSERT(price(plain(), with_cpu_free(64'000 - used - more), bundle, slots, Fixed::ratio(m, 1'000)) >= base);
  RC_ASSERT(price(plain(), with_cpu_free(64'000 - used), bundle, slots + further, Fixed::ratio(m, 1'000)) >= base);
  RC_ASSERT(price(plain(), with_cpu_free(64'000 - used), bundle, slots, Fixed::ratio(m + 1, 1'000)) >= base);
}

RC_GTEST_PROP(PricingProperty, SupplyCoversTheCountAtPricesThatHold, ()) {
  auto count = *rc::gen::inRange<std::uint32_t>(1, limits::kSlots + 1);
  Bundle bundle{*rc::gen::inRange<std::uint32_t>(1, 64), 0, 0, {}};
  Capacity capacity = node();
  Load load{capacity, capacity};
  Pricing pricing(plain());
  std::vector<Lot> lots = pricing.supply(load, bundle, count, Fixed::whole(1), {});
  RC_ASSERT(lots.size() <= 8u);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < lots.size(); ++i) {
    RC_ASSERT(lots[i].count > 0u);
    if (i > 0) RC_ASSERT(lots[i].price > lots[i - 1].price);
    sum += lots[i].count;
  }
  RC_ASSERT(sum == count);
  auto some = *rc::gen::inRange<std::uint32_t>(1, count + 1);
  RC_ASSERT(lot_for(lots, some)->price >= pricing.price(load, bundle, some, Fixed::whole(1), {}).price);
  RC_ASSERT(lot_for(lots, count + 1) == nullptr);
}

RC_GTEST_PROP(PricingProperty, ExtremesDoNotOverflow, (bool negative)) {
  PricingConfig config;
  config.milliwatts_per_cpu = config.milliwatts_per_gib = 1'000'000'000;
  config.tariff_micro_per_kwh = negative ? -1'000'000'000'000 : 1'000'000'000'000;
  config.cpu_rate = config.memory_rate = config.other_device.capacity_rate = Price{kMaxPriceMicroPerS};
  config.other_device.milliwatts = 1'000'000'000;
  config.multiplier_max_permille = 1'000'000;
  RC_ASSERT(validate(config).has_value());
  Bundle bundle{*rc::gen::arbitrary<std::uint32_t>(),
                *rc::gen::arbitrary<std::uint64_t>(),
                0,
                {{"x", "", *rc::gen::arbitrary<std::uint32_t>()}}};
  Capacity capacity{*rc::gen::arbitrary<std::uint32_t>(),
                    *rc::gen::arbitrary<std::uint64_t>(),
                    0,
                    {{"x", "", *rc::gen::arbitrary<std::uint32_t>(), 0, false}}};
  auto priced = Pricing(config).price({capacity, capacity}, bundle, *rc::gen::arbitrary<std::uint32_t>(),
                                      Fixed::whole(1'000), WallTime{*rc::gen::arbitrary<std::int64_t>()});
  RC_ASSERT(priced.price >= Price{0});
  RC_ASSERT(priced.price <= Price{kMaxPriceMicroPerS});
  RC_ASSERT(priced.reason.utilisation_permille <= 1'000u);
}

}  // namespace
}  // namespace abacus
