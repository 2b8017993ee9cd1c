// Where a job stands in its negotiation. Every state but Idle has a timer, so none lasts for ever.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/trade_messages.h"

namespace abacus {

/// A seller in a round, and what it said: nothing yet, a quote, or why not.
struct Asked {
  Contact seller;
  std::string region;
  Duration round_trip;
  std::variant<std::monostate, Quote, DeclineDetail> answer;
  MonoTime answered_at;
  bool awarded = false;    ///< Its quote was used: one award for each.
  bool refreshed = false;  ///< A refusal brought a fresh quote already: there is no third.

  bool silent() const { return std::holds_alternative<std::monostate>(answer); }
  const Quote* quote() const { return std::get_if<Quote>(&answer); }
};

/// At most two of them make an episode.
struct Round {
  NegotiationId negotiation = 0;
  std::uint32_t number = 1;
  std::uint32_t wanted = 0;  ///< Slots.
  std::vector<Asked> asked;
  std::vector<NodeId> asked_before;  ///< In round one.
  bool fast = false;                 ///< Awarded by a remembered price, nobody asked.
};

/// Nothing to place, or everything is covered.
struct Idle {};

/// Waits for quotes: until all have answered, the patience after the second quote ends, or the time is up.
struct Asking {
  Round round;
  MonoTime give_up_at;
  std::optional<MonoTime> patience_ends;
};

/// Waits for Accept or Refuse.
struct Awarding {
  Round round;
  std::vector<LeaseId> open;
  std::uint32_t accepted = 0;
};

/// Nobody could or would: leaves the market alone for a while. A call back ends it.
struct CoolingDown {
  MonoTime until;
};

/// Nothing known can hold the bundle: the overlay is searching.
struct Searching {
  MonoTime until;
};

using Episode = std::variant<Idle, Asking, Awarding, CoolingDown, Searching>;

/// What the last episode came to, in numbers: the reason for waiting.
struct Verdict {
  std::uint32_t asked = 0;
  std::uint32_t quotes = 0;
  std::uint32_t silent = 0;
  std::uint32_t refused = 0;
  std::vector<DeclineDetail> declines;
  std::optional<Price> lowest_price;  ///< Heard, quoted or declined with.
  Money lowest_fee;
  bool too_poor = false;  ///< There were prices, and none could be paid.
};

}  // namespace abacus
