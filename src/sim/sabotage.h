// Bugs that a simulation plants on purpose, so that tests see each checker catch what it is there for.
#pragma once

#include <cstdint>
#include <set>

namespace abacus::sim {

/// What a simulated machine does wrong. The node on it is the shipped one and knows nothing of it.
enum class Sabotage : std::uint8_t {
  drop_jobs,      ///< The disk acknowledges records of jobs, tasks and their leases and keeps none of them.
  late_disk,      ///< The disk acknowledges at once and writes every few seconds: a crash undoes what was promised.
  oversold,       ///< The node is told of twice the capacity that the machine has.
  twin_awards,    ///< Each award goes out a second time, for another lease.
  awards_vanish,  ///< No award leaves the machine.
  receipts_stay_open,    ///< No acknowledgement of a receipt leaves the machine.
  prices_unnamed,        ///< Questions for renewal leave without the price that the buyer agrees to.
  receipts_are_dear,     ///< Each receipt claims a micro-credit too much.
  nobody_is_neighbour,   ///< No word about neighbourhood leaves the machine.
  asks_everybody_often,  ///< Each request for quotes goes out many times.
};

using Sabotages = std::set<Sabotage>;

}  // namespace abacus::sim
