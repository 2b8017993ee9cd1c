// Prices without buying.
#include "core/buying/planning.h"

#include <algorithm>

#include "core/buying/amounts.h"
#include "core/buying/market_search.h"
#include "core/buying/negotiation.h"
#include "core/buying/validate_job.h"

namespace abacus {
namespace {

/// Nodes too small that are listed with what they lack.
constexpr std::size_t kMissesShown = 8;
constexpr std::size_t kPlansMax = 1'000;

Rfq rfq_for(const Turn& t, const Job& job, NegotiationId negotiation) {
  Rfq rfq;
  rfq.negotiation = negotiation;
  rfq.bundle = job.spec().bundle;
  rfq.count = std::min(job.size(), limits::kSlots);
  rfq.lease_time = lease_time_for(t, job, rfq.count);
  rfq.expected_run = job.run();
  rfq.input_bytes = job.spec().input_bytes;
  rfq.region = t.desk.region;
  rfq.plan_only = true;
  return rfq;
}

std::vector<PlanLine> misses(const Turn& t, const Job& job) {
  std::vector<PlanLine> lines;
  const auto& regions = job.spec().regions;
  for (const OfferRef& signed_offer : t.peers.offers(t.now.wall)) {
    const Offer& offer = signed_offer->offer;
    bool allowed = regions.empty() || std::find(regions.begin(), regions.end(), offer.region) != regions.end();
    std::vector<Shortfall> missing = shortfalls(offer.capacity, job.spec().bundle);
    if (allowed && missing.empty()) continue;
    DeclineDetail detail;
    detail.reason = allowed ? DeclineReason::never_fits : DeclineReason::wrong_region;
    detail.shortfalls = std::move(missing);
    lines.push_back({offer.contact.node, offer.region, std::nullopt, std::move(detail), {}});
  }
  auto nearer = [](const PlanLine& a, const PlanLine& b) {
    return a.decline->shortfalls.size() < b.decline->shortfalls.size();
  };
  std::stable_sort(lines.begin(), lines.end(), nearer);
  if (lines.size() > kMissesShown) lines.resize(kMissesShown);
  return lines;
}

PlanLine line_of(const Plan& plan, const Asked& asked) {
  PlanLine line;
  line.seller = asked.seller.node;
  line.region = asked.region;
  if (const Quote* quote = asked.quote()) {
    line.quote = *quote;
    Duration run = plan.spec.expected_run > Duration{} ? plan.spec.expected_run : minutes(1);
    line.expected_cost = sum(most_cost(quote->lots.front().price, 1, run), quote->lots.front().fee);
  } else if (const auto* decline = std::get_if<DeclineDetail>(&asked.answer)) {
    line.decline = *decline;
  }
  return line;
}

void finish(Turn& t, std::map<NegotiationId, Plan>::iterator at) {
  Plan& plan = at->second;
  PlanResult result;
  result.nodes_known = plan.nodes_known;
  for (const Asked& asked : plan.asked) result.lines.push_back(line_of(plan, asked));
  auto before = [](const PlanLine& a, const PlanLine& b) {
    if (a.quote.has_value() != b.quote.has_value()) return a.quote.has_value();
    return a.quote && a.expected_cost < b.expected_cost;
  };
  std::stable_sort(result.lines.begin(), result.lines.end(), before);
  for (PlanLine& miss : plan.misses) result.lines.push_back(std::move(miss));
  t.fx.soft(Answer{plan.request, std::move(result)});
  t.desk.timers.cancel(PlanDue{at->first});
  t.desk.plans.erase(at);
}

/// Files an answer; true if the negotiation is a plan's.
template <class Value>
bool answered(Turn& t, const Contact& from, NegotiationId negotiation, Value answer) {
  auto at = t.desk.plans.find(negotiation);
  if (at == t.desk.plans.end()) return false;
  bool all = true;
  for (Asked& asked : at->second.asked) {
    if (asked.seller.node == from.node && asked.silent()) asked.answer = std::move(answer);
    all = all && !asked.silent();
  }
  if (all) finish(t, at);
  return true;
}

}  // namespace

void plan(Turn& t, const PlanJob& command) {
  if (Status valid = validate_for_custody(command.spec); !valid) {
    return t.fx.soft(Answer{command.request, valid.error().in("job")});
  }
  if (t.desk.plans.size() >= kPlansMax) {
    return t.fx.soft(
        Answer{command.request, Error{ErrorCode::unavailable, "too many plans are being made: try again"}});
  }
  JobRecord imagined;
  imagined.spec = command.spec;
  Job job(std::move(imagined));
  job.pending.add_fresh(0, job.size());
  Wanted wanted = wanted_of(t, job);
  SellerBook no_memory;
  Field field = survey(t.peers, no_memory, wanted, {}, t.now);
  std::vector<Candidate> candidates = draw(t.peers, field, wanted, t.desk.config.ask_max, t.desk.prng);

  NegotiationId negotiation = t.desk.prng.next();
  Plan plan{command.request, command.spec, field.nodes, {}, misses(t, job)};
  Rfq rfq = rfq_for(t, job, negotiation);
  for (const Candidate& candidate : candidates) {
    plan.asked.push_back({candidate.offer->contact, candidate.offer->region, {}, {}, {}});
    t.send(job, candidate.offer->contact, rfq);
  }
  t.desk.counters.rfqs_sent += candidates.size();
  auto at = t.desk.plans.emplace(negotiation, std::move(plan)).first;
  if (candidates.empty()) return finish(t, at);
  t.desk.timers.set(PlanDue{negotiation}, t.now.mono + t.desk.config.plan_patience);
}

void on_plan_due(Turn& t, NegotiationId negotiation) {
  auto at = t.desk.plans.find(negotiation);
  if (at != t.desk.plans.end()) finish(t, at);
}

bool plan_quoted(Turn& t, const Contact& from, const Quote& quote) {
  if (usable(quote)) return answered(t, from, quote.negotiation, quote);
  DeclineDetail nonsense;
  nonsense.reason = DeclineReason::bad_request;
  return answered(t, from, quote.negotiation, nonsense);
}

bool plan_declined(Turn& t, const Contact& from, const Decline& decline) {
  return answered(t, from, decline.negotiation, decline.detail);
}

}  // namespace abacus
