// What a seller asks for its free slots, and which awards it must or may honour.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/prng.h"
#include "core/model/effects.h"
#include "core/pricing/multiplier.h"
#include "core/pricing/pricing.h"
#include "core/selling/call_backs.h"
#include "core/selling/quote_book.h"
#include "core/selling/room.h"
#include "core/selling/selling_config.h"

namespace abacus {

class QuoteDesk {
 public:
  /// `room` and `config` must outlive this.
  QuoteDesk(const SellingConfig& config, const PricingConfig& pricing, std::string region, const Room& room, Prng prng,
            std::uint32_t multiplier_permille);

  using Answer = std::variant<Quote, DeclineDetail>;

  /// A quote, remembered unless the Rfq is plan_only, or why not. `free_in`: when room is expected.
  Answer answer(const Contact& buyer, const Rfq& rfq, Duration free_in, Now now);
  /// The buyer will hear when there is room.
  void call_back_later(const Contact& buyer, const TraceContext& trace, const Rfq& rfq, Now now);

  /// What speaks against an award, room aside. Its price holds if it is no less than quoted, or than asked at present.
  std::optional<DeclineDetail> objection(const Award& award, Now now);
  /// It became a lease.
  void awarded(const Award& award);
  /// An award read as a question, to quote afresh.
  Rfq question_of(const Award& award) const;

  /// The day's price for slots in use already.
  Price present_price(const Bundle& bundle, Now now);

  /// What is in use changed.
  void observe(Now now);
  void set_pace(Duration mean_run);
  /// Calls back who waits for what is free now, one at a time.
  void serve_waiting(Duration free_in, Now now, Effects& fx);
  /// Until serve_waiting is called again.
  void stop_serving() { call_at_.reset(); }
  std::optional<MonoTime> next_wake() const { return call_at_; }

  const Multiplier& multiplier() const { return multiplier_; }
  const Pricing& pricing() const { return pricing_; }
  std::uint64_t quotes_given() const { return quotes_given_; }

 private:
  /// Why this could not be even if the node were empty.
  std::optional<DeclineDetail> never_possible(const Bundle& bundle, Duration lease_time) const;
  /// `firm_room`: what the quote names counts as taken until it expires.
  Answer consider(const Contact& buyer, const Rfq& rfq, bool firm_room, Duration free_in, Now now);
  bool counts_as_taken(Duration expected_run) const;
  Duration valid_for(Duration expected_run) const;
  std::uint32_t room_permille(const NodeId& buyer, const Bundle& bundle, std::uint32_t count) const;
  Answer quote(const Contact& buyer, const Rfq& rfq, const Capacity& free, std::uint32_t count, bool firm_room,
               Now now);
  bool price_holds(const Award& award, Now now, Price& asked);
  void remember_region(const NodeId& buyer, bool same);
  bool known_near(const NodeId& buyer) const;

  const SellingConfig& config_;
  std::string region_;
  const Room& room_;
  Pricing pricing_;
  Multiplier multiplier_;
  QuoteBook book_;
  CallBacks call_backs_;
  std::map<NodeId, bool> near_;  ///< Which buyers with inputs said that they are of this region.
  std::deque<NodeId> near_order_;
  std::optional<MonoTime> call_at_;  ///< When to look at the waiting ones again.
  std::optional<MonoTime> last_call_;
  std::uint64_t quotes_given_ = 0;
};

}  // namespace abacus
