// The episodes of a job.
#include "core/buying/negotiation.h"

#include <algorithm>

#include "core/buying/allocate.h"
#include "core/buying/amounts.h"
#include "core/buying/awards.h"
#include "core/buying/custody.h"
#include "core/buying/market_search.h"
#include "core/buying/purse.h"
#include "core/buying/streaming.h"

namespace abacus {
namespace {

constexpr std::size_t kNegotiationsRemembered = 16;

NegotiationLine line_of(const Round& round, NegotiationStep step, const Contact& seller, const std::string& region) {
  NegotiationLine line;
  line.negotiation = round.negotiation;
  line.round = round.number;
  line.step = step;
  line.seller = seller.node;
  line.region = region;
  line.slots = round.wanted;
  return line;
}

NegotiationId new_negotiation(Turn& t, Job& job) {
  NegotiationId id = t.desk.prng.next();
  t.desk.negotiations.emplace(id, job.id());
  job.negotiations.push_back(id);
  if (job.negotiations.size() > kNegotiationsRemembered) {
    t.desk.negotiations.erase(job.negotiations.front());
    job.negotiations.erase(job.negotiations.begin());
  }
  ++t.desk.counters.negotiations;
  return id;
}

void set_timer(Turn& t, const Job& job, MonoTime at) { t.desk.timers.set(EpisodeDue{job.id()}, at); }

void cool_seller(Turn& t, Job& job, const NodeId& seller, std::uint32_t at_least = 0) {
  t.desk.sellers.at(seller, t.now).shape(job.shape).cool_down.fail(t.desk.config, t.desk.prng, t.now, at_least);
}

/// Leaves the market alone, and gives the job up if it keeps being too poor.
/// `not_before`: nobody was there to be asked until then.
void cool_down(Turn& t, Job& job, std::optional<MonoTime> not_before, bool asked_anybody) {
  if (give_up_if_poor(t, job, asked_anybody)) return;
  CoolDown wait{job.cool_level, {}};
  wait.fail(t.desk.config, t.desk.prng, t.now);
  job.cool_level = std::min(wait.level, 10u);
  MonoTime until = not_before ? std::max(wait.until, *not_before) : wait.until;
  job.episode = CoolingDown{until};
  set_timer(t, job, until);
}

// ---- asking --------------------------------------------------------------------------------------------------------

std::uint32_t how_many_to_ask(const BuyingConfig& config, const Round& round) {
  std::uint32_t base = round.number == 1 ? config.ask : config.ask_after_refusal;
  return std::min(base + round.wanted / 8, config.ask_max);
}

/// More than is wanted, so that the answers show what further awards would cost.
std::uint32_t count_to_ask(const BuyingConfig& config, const Job& job, std::uint32_t wanted) {
  if (job.run() < config.fast_run_min) return wanted;
  return std::max(wanted, std::min(config.ask_room * 4, wanted * config.ask_room));
}

Rfq rfq_for(const Turn& t, const Job& job, const Round& round) {
  Rfq rfq;
  rfq.negotiation = round.negotiation;
  rfq.round = round.number;
  rfq.bundle = job.spec().bundle;
  rfq.count = count_to_ask(t.desk.config, job, round.wanted);
  rfq.lease_time = lease_time_for(t, job, round.wanted);
  rfq.expected_run = job.run();
  rfq.price_limit = price_limit(job);
  rfq.input_bytes = job.spec().input_bytes;
  rfq.region = t.desk.region;
  return rfq;
}

void ask(Turn& t, Job& job, Round round, const std::vector<Candidate>& candidates) {
  const BuyingConfig& config = t.desk.config;
  Rfq rfq = rfq_for(t, job, round);
  if (round.number == 1) job.verdict = {};
  Duration longest;
  for (const Candidate& candidate : candidates) {
    const Offer& offer = *candidate.offer;
    Duration round_trip = t.peers.round_trip(offer.contact.node);
    longest = std::max(longest, std::min(round_trip * 2 + config.answer_margin, config.answer_max));
    round.asked.push_back({offer.contact, offer.region, round_trip, {}, {}});
    t.note(job, line_of(round, NegotiationStep::asked, offer.contact, offer.region));
    t.send(job, offer.contact, rfq);
  }
  t.desk.counters.rfqs_sent += candidates.size();
  job.verdict.asked += static_cast<std::uint32_t>(candidates.size());
  job.episode = Asking{std::move(round), t.now.mono + longest, std::nullopt};
  set_timer(t, job, t.now.mono + longest);
}

/// False if nobody is left to ask; then the caller decides what follows.
bool begin_round(Turn& t, Job& job, Round round, const Field& field, const Wanted& wanted) {
  std::vector<Candidate> candidates = draw(t.peers, field, wanted, how_many_to_ask(t.desk.config, round), t.desk.prng);
  if (candidates.empty()) return false;
  ask(t, job, std::move(round), candidates);
  return true;
}

// ---- awarding ------------------------------------------------------------------------------------------------------

std::vector<Bid> bids_of(const Turn& t, const Job& job, const Round& round) {
  std::vector<Bid> bids;
  for (std::size_t i = 0; i < round.asked.size(); ++i) {
    const Asked& asked = round.asked[i];
    const Quote* quote = asked.quote();
    if (!quote || asked.awarded || t.peers.is_suspect(asked.seller.node)) continue;
    Duration least = std::min(job.run(), t.desk.config.lease_time_min);
    if (quote->lease_time_max > Duration{} && quote->lease_time_max < least) continue;
    auto notes = t.desk.sellers.all().find(asked.seller.node);
    Odds odds{asked.round_trip};
    if (notes != t.desk.sellers.all().end()) odds = odds_of(notes->second, asked.round_trip);
    bids.push_back({i, quote, odds});
  }
  return bids;
}

/// Opens the lease for a pick as far as the budget goes; none if it does not reach for one slot.
std::optional<LeaseId> award_pick(Turn& t, Job& job, Round& round, const Pick& pick) {
  Asked& asked = round.asked[pick.seller];
  Duration lease_time = lease_time_for(t, job, pick.slots);
  if (asked.quote()->lease_time_max > Duration{}) lease_time = std::min(lease_time, asked.quote()->lease_time_max);
  std::optional<Affordable> affordable = afford(job, pick.lot.price, pick.lot.fee, pick.slots, lease_time);
  if (!affordable) return std::nullopt;
  asked.awarded = true;
  Deal deal{asked.seller, asked.region,           affordable->slots,          pick.lot.price,
            pick.lot.fee, affordable->lease_time, asked.quote()->negotiation, asked.quote()->quote,
            round.number, asked.round_trip};
  NegotiationLine line = line_of(round, NegotiationStep::awarded, asked.seller, asked.region);
  line.slots = deal.slots;
  line.price = deal.price;
  line.score = pick.score;
  line.reason = asked.quote()->reason;
  t.note(job, std::move(line));
  return open_lease(t, job, deal);
}

/// Awards up to `wanted` slots to the best of the answers at hand. Marks the job too poor if there were prices and none
/// could be paid.
std::vector<LeaseId> award_best(Turn& t, Job& job, Round& round, std::uint32_t wanted) {
  std::vector<LeaseId> opened;
  Terms terms{job.run_or_minute(), job.spec().urgency};
  std::vector<Pick> picks = allocate(bids_of(t, job, round), wanted, terms, t.desk.prng);
  for (const Pick& pick : picks) {
    if (job.pending.empty()) break;
    if (auto lease = award_pick(t, job, round, pick)) opened.push_back(*lease);
  }
  job.verdict.too_poor = opened.empty() && job.verdict.lowest_price.has_value() && !can_pay_lowest(job);
  return opened;
}

void note_silent(Turn& t, Job& job, const Round& round) {
  for (const Asked& asked : round.asked) {
    if (!asked.silent()) continue;
    ++job.verdict.silent;
    t.note(job, line_of(round, NegotiationStep::silent, asked.seller, asked.region));
    cool_seller(t, job, asked.seller.node);
  }
}

/// Round two asks others than round one.
bool ask_again(Turn& t, Job& job, const Round& before, std::uint32_t wanted) {
  if (before.number >= 2) return false;
  Round round;
  round.negotiation = before.negotiation;
  round.number = before.number + 1;
  round.wanted = wanted;
  for (const Asked& asked : before.asked) round.asked_before.push_back(asked.seller.node);
  Wanted terms = wanted_of(t, job);
  Field field = survey(t.peers, t.desk.sellers, terms, round.asked_before, t.now);
  return begin_round(t, job, std::move(round), field, terms);
}

void decide(Turn& t, Job& job, bool time_is_up) {
  Round round = std::move(std::get<Asking>(job.episode).round);
  if (time_is_up) note_silent(t, job, round);
  std::vector<LeaseId> opened = award_best(t, job, round, std::min(wanted_slots(t, job), job.pending.size()));
  if (!opened.empty()) {
    t.desk.timers.cancel(EpisodeDue{job.id()});
    job.episode = Awarding{std::move(round), std::move(opened), 0};
    return;
  }
  job.episode = Idle{};
  std::uint32_t wanted = wanted_slots(t, job);
  if (wanted == 0) return end_episode(t, job);
  if (!ask_again(t, job, round, wanted)) cool_down(t, job, std::nullopt, true);
}

/// Decides if enough is in; sets the patience after the second quote.
void weigh(Turn& t, Job& job) {
  auto& asking = std::get<Asking>(job.episode);
  std::uint32_t quotes = 0;
  std::uint64_t slots = 0;
  Duration slowest;
  bool all = true;
  for (const Asked& asked : asking.round.asked) {
    if (asked.silent()) {
      all = false;
      slowest = std::max(slowest, asked.round_trip);
    } else if (const Quote* quote = asked.quote()) {
      ++quotes;
      for (const Lot& lot : quote->lots) slots += lot.count;
    }
  }
  if (all) return decide(t, job, false);
  if (quotes < 2 || slots < asking.round.wanted || asking.patience_ends) return;
  asking.patience_ends = t.now.mono + std::clamp(slowest / 2, milliseconds(1), milliseconds(50));
  set_timer(t, job, std::min(*asking.patience_ends, asking.give_up_at));
}

// ---- fast path -----------------------------------------------------------------------------------------------------

/// A price heard directly, young and with room to spare.
const HeardPrice* fresh_price(const Turn& t, const Job& job, const Candidate& candidate, std::uint32_t wanted) {
  const auto* notes = candidate.notes ? candidate.notes->find(job.shape) : nullptr;
  if (!notes || !notes->heard) return nullptr;
  const HeardPrice& heard = *notes->heard;
  Duration oldest = std::min(job.run(), t.desk.config.fast_age_max);
  bool enough = heard.room() >= std::uint64_t{wanted} * t.desk.config.fast_room;
  return t.now.mono - heard.at < oldest && enough ? &heard : nullptr;
}

std::optional<Asked> fast_choice(const Turn& t, const Job& job, const Field& field, std::uint32_t wanted) {
  std::optional<Asked> best;
  Money best_score;
  Terms terms{job.run_or_minute(), job.spec().urgency};
  for (const Candidate& candidate : field.open) {
    const HeardPrice* heard = fresh_price(t, job, candidate, wanted);
    if (!heard || t.peers.is_suspect(candidate.offer->contact.node)) continue;
    Duration round_trip = t.peers.round_trip(candidate.offer->contact.node);
    Money candidate_score = score(heard->lot_for(wanted), terms, odds_of(*candidate.notes, round_trip));
    if (best && best_score <= candidate_score) continue;
    best_score = candidate_score;
    Quote quote;
    quote.negotiation = heard->negotiation;
    quote.quote = heard->firm_until > t.now.mono ? heard->quote : 0;
    quote.lots = {heard->lot_for(wanted)};
    quote.lots.front().count = wanted;
    quote.lease_time_max = heard->lease_time_max;
    best = Asked{candidate.offer->contact, candidate.offer->region, round_trip, std::move(quote), heard->at};
  }
  return best;
}

/// Awards unasked if a price at hand is good enough. Now and then it asks all the same, so that prices stay known.
bool award_fast(Turn& t, Job& job, const Field& field, std::uint32_t wanted) {
  if (job.run() <= Duration{} || t.desk.prng.chance(1, t.desk.config.fast_explore)) return false;
  std::optional<Asked> choice = fast_choice(t, job, field, wanted);
  if (!choice) return false;
  Round round;
  round.negotiation = new_negotiation(t, job);
  round.wanted = wanted;
  round.fast = true;
  job.verdict = {};
  round.asked.push_back(std::move(*choice));
  std::vector<LeaseId> opened = award_best(t, job, round, wanted);
  if (opened.empty()) return false;
  ++t.desk.counters.fast_awards;
  job.episode = Awarding{std::move(round), std::move(opened), 0};
  return true;
}

void open_episode(Turn& t, Job& job, std::uint32_t wanted) {
  Wanted terms = wanted_of(t, job);
  Field field = survey(t.peers, t.desk.sellers, terms, {}, t.now);
  if (field.feasible == 0) return search_on(t, job, field);
  if (award_fast(t, job, field, wanted)) return;
  Round round;
  round.negotiation = new_negotiation(t, job);
  round.wanted = wanted;
  if (!begin_round(t, job, std::move(round), field, terms)) cool_down(t, job, field.cool_until, false);
}

Asked* asked_in(Episode& episode, const NodeId& seller) {
  Round* round = nullptr;
  if (auto* asking = std::get_if<Asking>(&episode)) round = &asking->round;
  if (auto* awarding = std::get_if<Awarding>(&episode)) round = &awarding->round;
  if (!round) return nullptr;
  for (Asked& asked : round->asked) {
    if (asked.seller.node == seller) return &asked;
  }
  return nullptr;
}

const Round* round_of(const Episode& episode) {
  if (const auto* asking = std::get_if<Asking>(&episode)) return &asking->round;
  if (const auto* awarding = std::get_if<Awarding>(&episode)) return &awarding->round;
  return nullptr;
}

Job* job_of(Turn& t, NegotiationId negotiation) {
  auto found = t.desk.negotiations.find(negotiation);
  return found == t.desk.negotiations.end() ? nullptr : t.desk.job(found->second);
}

void heard_lowest(Verdict& verdict, Price price, Money fee) {
  if (verdict.lowest_price && *verdict.lowest_price <= price) return;
  verdict.lowest_price = price;
  verdict.lowest_fee = fee;
}

void take_quote(Turn& t, Job& job, Asked& asked, const Quote& quote) {
  t.desk.sellers.hear(asked.seller.node, job.shape, quote, t.now);
  asked.answer = quote;
  asked.answered_at = t.now.mono;
  ++job.verdict.quotes;
  heard_lowest(job.verdict, quote.lots.front().price, quote.lots.front().fee);
  NegotiationLine line = line_of(*round_of(job.episode), NegotiationStep::quoted, asked.seller, asked.region);
  line.slots = 0;
  for (const Lot& lot : quote.lots) line.slots = std::min(line.slots + lot.count, limits::kSlots);
  line.price = quote.lots.front().price;
  line.score = score(quote.lots.front(), {job.run_or_minute(), job.spec().urgency}, Odds{asked.round_trip});
  line.reason = quote.reason;
  t.note(job, std::move(line));
}

void take_decline(Turn& t, Job& job, Asked& asked, const DeclineDetail& detail) {
  constexpr std::uint32_t kWillNotChangeSoon = 6;
  asked.answer = detail;
  asked.answered_at = t.now.mono;
  job.verdict.declines.push_back(detail);
  if (detail.lowest_price) heard_lowest(job.verdict, *detail.lowest_price, {});
  NegotiationLine line = line_of(*round_of(job.episode), NegotiationStep::declined, asked.seller, asked.region);
  line.decline = detail;
  t.note(job, std::move(line));
  bool lasting = detail.reason == DeclineReason::never_fits || detail.reason == DeclineReason::draining ||
                 detail.reason == DeclineReason::wrong_region;
  cool_seller(t, job, asked.seller.node, lasting ? kWillNotChangeSoon : 0);
}

}  // namespace

std::uint32_t wanted_slots(const Turn& t, const Job& job) {
  std::uint64_t slots = 0, placed = 0, out_of_reach = 0;
  for (const Lease* lease : job.leases) {
    if (std::holds_alternative<Awarded>(lease->state) || takes_tasks(t, job, *lease)) {
      slots += lease->record.slots;
      placed += lease->attempts.size();
    } else {
      out_of_reach += std::min<std::uint64_t>(lease->record.slots, lease->attempts.size());
    }
  }
  std::uint64_t useful = job.pending.size() + placed;
  Duration worth = t.desk.config.worth_a_slot;
  if (job.run() > Duration{} && job.run() < worth) {
    Int128 shared = divide_up(static_cast<Int128>(useful) * job.run().ns, worth.ns);
    useful = std::max<std::uint64_t>(static_cast<std::uint64_t>(shared), 1);
  }
  if (std::uint64_t most = job.spec().array.running_max) useful = std::min(useful, most - std::min(most, out_of_reach));
  useful = std::min<std::uint64_t>(useful, limits::kSlots);
  std::uint64_t missing = useful > slots ? useful - slots : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(missing, job.pending.size()));
}

Duration lease_time_for(const Turn& t, const Job& job, std::uint32_t slots) {
  const BuyingConfig& config = t.desk.config;
  if (job.run() <= Duration{}) return config.lease_time_unknown;
  Duration longest = std::max(config.lease_time_max, job.run() + job.run() / 4);
  std::int64_t share = static_cast<std::int64_t>(job.pending.size()) / std::max(slots, 1u) + 1;
  Int128 time = static_cast<Int128>(job.run().ns) * share * 5 / 4;
  Duration useful{static_cast<std::int64_t>(std::min<Int128>(time, longest.ns))};
  return std::clamp(useful, config.lease_time_min, config.lease_time_longest);
}

void consider(Turn& t, Job& job) {
  if (job.satisfied || job.pending.empty() || !std::holds_alternative<Idle>(job.episode)) return;
  std::uint32_t wanted = wanted_slots(t, job);
  job.satisfied = wanted == 0;
  if (wanted > 0) open_episode(t, job, wanted);
}

void end_episode(Turn& t, Job& job) {
  job.episode = Idle{};
  t.desk.timers.cancel(EpisodeDue{job.id()});
}

void on_episode_due(Turn& t, Job& job) {
  if (std::holds_alternative<Asking>(job.episode)) {
    bool time_is_up = t.now.mono >= std::get<Asking>(job.episode).give_up_at;
    return decide(t, job, time_is_up);
  }
  if (std::holds_alternative<Searching>(job.episode)) {
    std::uint32_t wanted = wanted_slots(t, job);
    return wanted > 0 ? open_episode(t, job, wanted) : end_episode(t, job);
  }
  if (std::holds_alternative<CoolingDown>(job.episode)) job.episode = Idle{};
  job.satisfied = false;
  consider(t, job);
}

void on_quote(Turn& t, const Contact& from, const Quote& quote) {
  Job* job = job_of(t, quote.negotiation);
  Asked* asked = job ? asked_in(job->episode, from.node) : nullptr;
  if (!asked || !asked->silent() || round_of(job->episode)->negotiation != quote.negotiation) return;
  if (usable(quote)) {
    take_quote(t, *job, *asked, quote);
  } else {
    DeclineDetail nonsense;
    nonsense.reason = DeclineReason::bad_request;
    take_decline(t, *job, *asked, nonsense);
    t.warn(job->trace, "a quote with impossible numbers from " + from.node.short_string());
  }
  if (std::holds_alternative<Asking>(job->episode)) weigh(t, *job);
  after_change(t, *job);
}

void on_decline(Turn& t, const Contact& from, const Decline& decline) {
  Job* job = job_of(t, decline.negotiation);
  Asked* asked = job ? asked_in(job->episode, from.node) : nullptr;
  if (!asked || !asked->silent() || round_of(job->episode)->negotiation != decline.negotiation) return;
  take_decline(t, *job, *asked, decline.detail);
  if (std::holds_alternative<Asking>(job->episode)) weigh(t, *job);
  after_change(t, *job);
}

void on_call_back(Turn& t, const Contact& from, const Quote& quote) {
  Job* job = job_of(t, quote.negotiation);
  OfferRef offer = t.peers.find(from.node);
  if (!job || !offer || !usable(quote) || t.peers.is_suspect(from.node)) return;
  auto& seller = t.desk.sellers.at(from.node, t.now).shape(job->shape);
  seller.cool_down.until = {};
  t.desk.sellers.hear(from.node, job->shape, quote, t.now);
  bool resting = std::holds_alternative<CoolingDown>(job->episode) || std::holds_alternative<Idle>(job->episode);
  std::uint32_t wanted = wanted_slots(t, *job);
  if (!resting || wanted == 0) return;
  job->verdict = {};
  Round round;
  round.negotiation = quote.negotiation;
  round.wanted = wanted;
  round.asked.push_back({offer->offer.contact, offer->offer.region, t.peers.round_trip(from.node), {}, t.now.mono});
  job->episode = Asking{std::move(round), t.now.mono, std::nullopt};
  take_quote(t, *job, std::get<Asking>(job->episode).round.asked.front(), quote);
  decide(t, *job, false);
  after_change(t, *job);
}

void award_refused(Turn& t, Job& job, const NodeId& seller, const std::optional<Quote>& fresh) {
  cool_seller(t, job, seller);
  ++job.verdict.refused;
  Asked* asked = std::holds_alternative<Awarding>(job.episode) ? asked_in(job.episode, seller) : nullptr;
  if (!asked || asked->refreshed) return;
  asked->refreshed = true;
  if (!fresh || !usable(*fresh)) return;
  take_quote(t, job, *asked, *fresh);
  asked->awarded = false;
}

void award_resolved(Turn& t, Job& job, const LeaseId& lease, bool accepted) {
  auto* awarding = std::get_if<Awarding>(&job.episode);
  job.satisfied = false;
  if (!awarding || std::erase(awarding->open, lease) == 0) return consider(t, job);
  if (accepted) {
    ++awarding->accepted;
    job.cool_level /= 2;
    job.poor_episodes = 0;
  }
  std::uint32_t wanted = wanted_slots(t, job);
  if (!accepted && wanted > 0) {
    for (const LeaseId& id : award_best(t, job, awarding->round, wanted)) awarding->open.push_back(id);
  }
  if (!awarding->open.empty()) return;
  Awarding done = std::move(*awarding);
  end_episode(t, job);
  wanted = wanted_slots(t, job);
  if (wanted == 0) return consider(t, job);
  if (done.accepted > 0) return open_episode(t, job, wanted);
  if (done.round.fast) done.round.asked.clear();
  if (!ask_again(t, job, done.round, wanted)) cool_down(t, job, std::nullopt, true);
}

}  // namespace abacus
