// How a seller behaves apart from its prices: terms, patience and bounds.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace abacus {

struct SellingConfig {
  Duration lease_time_max = hours(24);
  /// Expected between this node and a buyer. Prices are firm for three of them at least.
  Duration round_trip = milliseconds(5);
  /// How much of its quotes still out a seller counts as taken where the round trip exceeds a hundredth of the
  /// service time (permille). Without it half of all awards are refused once quotes are 100 ms old.
  std::uint32_t quotes_out_permille = 1'000;
  std::size_t quotes_max = 4'096;  ///< Remembered at once; the oldest give way.

  std::size_t call_backs_max = 16;
  Duration call_back_for = seconds(30);         ///< An asker is called back for so long.
  Duration call_back_pause = milliseconds(10);  ///< Between two call-backs.

  /// Running work of a buyer out of sight goes on for so long after the lease's end, at the lease's price.
  Duration disconnected_extension = minutes(10);
  Duration silent_after = seconds(30);       ///< A buyer that said nothing for so long is out of sight.
  Duration idle_release = seconds(5);        ///< A lease without work or word is given up.
  Duration renewal_offer_for = seconds(10);  ///< A price offered for a renewal is firm for so long.
  Duration grace_max = minutes(5);           ///< Longest time between SIGTERM and SIGKILL that a buyer may ask for.
  Duration close_margin = seconds(30);  ///< After the grace: a process whose end was not reported by then is given up.

  Duration resend_first = seconds(1);  ///< Ends and receipts are repeated, doubling up to the greatest.
  Duration resend_max = seconds(60);
  Duration kept_for = hours(24 * 7);  ///< Unacknowledged results of a closed lease; then they are forgotten.

  std::size_t leases_per_buyer_max = 10'000;    ///< Open or unsettled.
  std::size_t attempts_per_lease_max = 16'384;  ///< At the seller at once; further ones are reported unknown.
  std::size_t spans_max = 1'000;                ///< Changes of a lease's price.
};
BOOST_DESCRIBE_STRUCT(SellingConfig, (),
                      (lease_time_max, round_trip, quotes_out_permille, quotes_max, call_backs_max, call_back_for,
                       call_back_pause, disconnected_extension, silent_after, idle_release, renewal_offer_for,
                       grace_max, close_margin, resend_first, resend_max, kept_for, leases_per_buyer_max,
                       attempts_per_lease_max, spans_max))

}  // namespace abacus
