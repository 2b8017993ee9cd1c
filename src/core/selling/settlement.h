// What a lease came to. Amounts saturate at what a message can carry: a peer's price may be absurd, but never a crash.
#pragma once

#include "core/model/records.h"

namespace abacus {

/// Metered sums over attempts.
struct Metered {
  std::uint32_t tasks_ended = 0;  ///< That had been started.
  Duration staging;
  Duration running;
};

/// Adds an ended attempt. One that never started was no task of this lease.
void add(Metered& sum, const RunRecord& run);

/// The message that tells of it. Requires run.end.
Done done_of(const RunRecord& run);

/// Price times slots times time, for each span from its start to the next one's (the last to `closed_at`), each rounded
/// up to a micro-credit, plus the fee for every task. A span that would run backwards has no length.
Receipt settle(const SoldLeaseRecord& lease, const Metered& metered, WallTime closed_at);

/// Appends a span, unless the price is what it was.
void change_price(SoldLeaseRecord& lease, Price price, WallTime at);

}  // namespace abacus
