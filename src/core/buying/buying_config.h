// What buying can be told: patience, bounds and habits. The defaults are those of the design.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace abacus {

struct BuyingConfig {
  // negotiation
  std::uint32_t ask = 3;                      ///< Sellers asked for one slot.
  std::uint32_t ask_after_refusal = 6;        ///< In a second round.
  std::uint32_t ask_max = 16;                 ///< For many slots, and for a plan.
  Duration answer_margin = milliseconds(20);  ///< Answers are waited for 2 round trips and this long, ...
  Duration answer_max = seconds(1);           ///< ... but never longer than this.
  std::uint32_t ask_room = 16;                ///< Multiple of the slots wanted that is asked about, for fast awards.
  Duration fast_run_min = milliseconds(500);  ///< Shorter work asks for what it wants: its quotes count as taken.
  Duration fast_age_max = seconds(10);        ///< Older prices are always asked afresh.
  std::uint32_t fast_room = 4;                ///< Room seen, in multiples of the slots wanted, for an award unasked.
  std::uint32_t fast_explore = 16;            ///< Every so many fast awards one is asked afresh instead.
  Duration cool_down_base = milliseconds(100);
  Duration cool_down_max = seconds(60);
  Duration search_for = seconds(3);     ///< For a node that could hold the bundle, before giving up.
  Duration joining_time = seconds(10);  ///< Added to it while no node but this one is known.
  std::uint32_t poor_episodes = 2;      ///< So often nothing may be affordable before the job is given up.
  std::uint32_t award_tries = 4;        ///< Awards sent to a silent seller before another one is sought.

  // leases
  Duration lease_time_min = seconds(60);
  Duration lease_time_unknown = minutes(10);  ///< When the run time is unknown.
  Duration lease_time_max = hours(1);         ///< Unless one task takes longer; then renewed.
  Duration lease_time_longest = hours(24);    ///< Never asked for more at once.
  Duration worth_a_slot = seconds(1);         ///< Tasks shorter than this share slots.
  Duration extension = minutes(10);     ///< A seller out of touch works on so long past the end (its own setting).
  Duration clock_bound = seconds(5);    ///< Between any two clocks of the market.
  Duration message_life = seconds(30);  ///< No message is under way for longer: 10 s to be dialled, 15 s to be repeated
                                        ///< by TCP, also for an agent that has died (runtime/net), and a margin.
  Duration linger{};                    ///< An idle lease is kept so long.
  Duration beat_every = seconds(5);
  Duration doubt_after = seconds(1);  ///< A Start without an answer for so long is asked about.

  // ends
  std::uint32_t fetch_tries = 3;
  Duration fetch_again_after = seconds(1);  ///< Times 5 at each further try.

  // views
  Duration plan_patience = seconds(1);
  std::size_t history_lines = 200;  ///< Kept of each job.
  std::size_t ended_jobs_max = 10'000;
  Duration ended_jobs_kept = hours(24 * 7);
};
BOOST_DESCRIBE_STRUCT(BuyingConfig, (),
                      (ask, ask_after_refusal, ask_max, answer_margin, answer_max, ask_room, fast_run_min, fast_age_max,
                       fast_room, fast_explore, cool_down_base, cool_down_max, search_for, joining_time, poor_episodes,
                       award_tries, lease_time_min, lease_time_unknown, lease_time_max, lease_time_longest,
                       worth_a_slot, extension, clock_bound, message_life, linger, beat_every, doubt_after, fetch_tries,
                       fetch_again_after, plan_patience, history_lines, ended_jobs_max, ended_jobs_kept))

}  // namespace abacus
