// The ranges of decoded values: whatever passes here may be handed to core.
#include <fmt/format.h>

#include "protocol/job.h"
#include "protocol/lease_messages.h"
#include "protocol/limits.h"
#include "protocol/offer.h"
#include "protocol/overlay_messages.h"
#include "protocol/trade_messages.h"

namespace abacus {
namespace {

Status at_most(std::size_t value, std::size_t limit, const char* what) {
  if (value > limit) return fail(ErrorCode::invalid, "{} {}, the limit is {}", value, what, limit);
  return {};
}

Status slots_in_range(std::uint32_t slots) {
  if (slots == 0 || slots > limits::kSlots) {
    return fail(ErrorCode::invalid, "{} slots: want 1 to {}", slots, limits::kSlots);
  }
  return {};
}

Status attempts_in_range(std::size_t count) { return at_most(count, limits::kAttemptsPerMessage, "attempts"); }

}  // namespace

Status validate(const WorkSpec& work) {
  if (work.command.empty() || work.command.front().empty()) {
    return fail(ErrorCode::invalid, "no command: want at least the name of a program");
  }
  for (const std::string& word : work.command) {
    if (word.find('\0') != std::string::npos) return fail(ErrorCode::invalid, "a word of the command has a zero byte");
  }
  for (const EnvironmentVariable& variable : work.environment) {
    if (variable.name.empty() || variable.name.find_first_of(std::string_view("=\0", 2)) != std::string::npos ||
        variable.value.find('\0') != std::string::npos) {
      return fail(ErrorCode::invalid, "'{}' is not the name of an environment variable", variable.name);
    }
  }
  return {};
}

Status validate(const ArraySpec& array) {
  if (array.step == 0) return fail(ErrorCode::invalid, "array step 0: want 1 or more");
  if (array.last < array.first) {
    return fail(ErrorCode::invalid, "array {}-{} runs backwards: want FIRST-LAST", array.first, array.last);
  }
  return at_most((array.last - array.first) / array.step, limits::kArrayTasks - 1, "array steps");
}

Status validate(const JobSpec& spec) {
  TRY_STATUS(at_most(spec.name.size(), limits::kNameBytes, "characters in the job's name"));
  TRY_STATUS(at_most(spec.regions.size(), 64, "regions"));
  if (!spec.is_array && spec.array.size() != 1) return fail(ErrorCode::invalid, "a job that is no array has one task");
  if (spec.budget && *spec.budget < Money{}) return fail(ErrorCode::invalid, "a budget cannot be negative");
  if (spec.attempts_max == 0) return fail(ErrorCode::invalid, "attempts_max 0: want 1 or more");
  if (spec.urgency < Price{}) return fail(ErrorCode::invalid, "urgency cannot be negative");
  return {};
}

Status validate(const Offer& offer) {
  TRY_STATUS(at_most(offer.region.size(), limits::kNameBytes, "characters in the region"));
  if (offer.contact.node.empty()) return fail(ErrorCode::invalid, "an offer without its node");
  if (offer.valid_for > hours(24)) return fail(ErrorCode::invalid, "an offer valid for more than a day");
  return {};
}

Status validate(const Shuffle& s) { return at_most(s.offers.size(), limits::kOffersPerShuffle, "offers"); }
Status validate(const ShuffleReply& s) { return at_most(s.offers.size(), limits::kOffersPerShuffle, "offers"); }
Status validate(const Ping& ping) { return at_most(ping.rumours.size(), limits::kRumours, "rumours"); }
Status validate(const PingAck& ack) { return at_most(ack.rumours.size(), limits::kRumours, "rumours"); }

Status validate(const Rfq& rfq) {
  TRY_STATUS(at_most(rfq.region.size(), limits::kNameBytes, "characters in the region"));
  return slots_in_range(rfq.count);
}

Status validate(const Lot& lot) { return slots_in_range(lot.count); }

Status validate(const Quote& quote) {
  TRY_STATUS(at_most(quote.region.size(), limits::kNameBytes, "characters in the region"));
  if (quote.lots.empty()) return fail(ErrorCode::invalid, "a quote without lots");
  return at_most(quote.lots.size(), limits::kLots, "lots");
}

Status validate(const Decline& decline) {
  return at_most(decline.referrals.size(), limits::kOffersPerShuffle, "referrals");
}

Status validate(const Award& award) {
  TRY_STATUS(slots_in_range(award.slots));
  return attempts_in_range(award.attempts.size());
}

Status validate(const Accept& accept) { return slots_in_range(accept.slots); }
Status validate(const Start& start) { return attempts_in_range(start.attempts.size()); }
Status validate(const Done& done) {
  return at_most(done.end.message.size(), limits::kTextBytes, "characters in the message");
}
Status validate(const DoneAck& ack) { return attempts_in_range(ack.attempts.size()); }
Status validate(const Interrupt& interrupt) { return attempts_in_range(interrupt.attempts.size()); }
Status validate(const LeaseBeat& beat) { return attempts_in_range(beat.attempts.size()); }
Status validate(const LeaseReport& report) { return attempts_in_range(report.attempts.size()); }
Status validate(const Renew& renew) {
  if (renew.lease_time.ns <= 0) return fail(ErrorCode::invalid, "a renewal for no time");
  return {};
}
Status validate(const Renewed&) { return {}; }
Status validate(const Receipt& receipt) { return slots_in_range(receipt.slots); }

}  // namespace abacus
