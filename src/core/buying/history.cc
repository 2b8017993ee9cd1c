// Sentences for `explain`.
#include "core/buying/history.h"

#include <fmt/format.h>

#include "core/buying/lease.h"

namespace abacus {
namespace {

std::string list_of(const std::vector<Shortfall>& shortfalls) {
  std::string text;
  for (const Shortfall& shortfall : shortfalls) {
    text += (text.empty() ? ": " : ", ") + to_string(shortfall);
  }
  return text;
}

std::string no_room(const DeclineDetail& detail) {
  std::string text = "has no room now" + list_of(detail.shortfalls);
  if (detail.nearest_count > 0) text += fmt::format("; {} such slots would fit", detail.nearest_count);
  if (detail.free_in > Duration{}) text += fmt::format("; expects room in {}", to_string(detail.free_in));
  return text;
}

std::string too_low(const DeclineDetail& detail) {
  if (!detail.lowest_price) return "asks more than the budget allows";
  return fmt::format("asks {} at least, more than the budget allows", to_string(*detail.lowest_price));
}

std::string offered(const NegotiationLine& line) {
  std::string text = fmt::format("offers {} slot{}", line.slots, line.slots == 1 ? "" : "s");
  if (line.price) text += " at " + to_string(*line.price);
  if (line.score) text += fmt::format(", worth {} a task all in all", to_string(*line.score));
  return text;
}

std::string what_happened(const NegotiationLine& line) {
  std::string said = line.decline ? sentence_of(*line.decline) : "gave no reason";
  switch (line.step) {
    case NegotiationStep::shortlisted: return "was shortlisted";
    case NegotiationStep::asked: return fmt::format("was asked for {} slot{}", line.slots, line.slots == 1 ? "" : "s");
    case NegotiationStep::quoted: return offered(line);
    case NegotiationStep::declined: return said;
    case NegotiationStep::silent: return "did not answer in time";
    case NegotiationStep::awarded: return fmt::format("was awarded {} slot{}", line.slots, line.slots == 1 ? "" : "s");
    case NegotiationStep::accepted: return fmt::format("accepted {} slot{}", line.slots, line.slots == 1 ? "" : "s");
    case NegotiationStep::refused: return "refused the award: it " + said;
    case NegotiationStep::released: return "was released";
    case NegotiationStep::lost: return "was lost with work in its slots";
    case NegotiationStep::cooling_down: return "is left alone for a while";
    case NegotiationStep::gave_up: return "was given up";
  }
  return {};
}

}  // namespace

std::string sentence_of(const DeclineDetail& detail) {
  switch (detail.reason) {
    case DeclineReason::never_fits: return "can never hold it" + list_of(detail.shortfalls);
    case DeclineReason::no_room: return no_room(detail);
    case DeclineReason::price_too_low: return too_low(detail);
    case DeclineReason::lease_too_long: return "does not lease for so long";
    case DeclineReason::wrong_region: return "does not take work from this region";
    case DeclineReason::draining: return "takes no new work (it is drained)";
    case DeclineReason::quote_expired: return "no longer stands by that quote";
    case DeclineReason::bad_request: return "did not understand the request";
  }
  return {};
}

std::string sentence_of(const NegotiationLine& line) {
  if (line.seller.empty()) return line.text;
  std::string where = line.region.empty() ? "" : fmt::format(" ({})", line.region);
  return fmt::format("{}{} {}", line.seller.short_string(), where, what_happened(line));
}

std::vector<NegotiationLine> History::lines() const {
  std::vector<NegotiationLine> result(lines_.begin(), lines_.end());
  for (NegotiationLine& line : result) line.text = sentence_of(line);
  return result;
}

NegotiationLine line_of(const Lease& lease, NegotiationStep step) {
  NegotiationLine line;
  line.step = step;
  line.seller = lease.record.seller.node;
  line.region = lease.record.region;
  line.slots = lease.record.slots;
  line.price = lease.record.price;
  return line;
}

}  // namespace abacus
