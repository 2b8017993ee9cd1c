// Award, accept, refuse.
#include "core/buying/awards.h"

#include <algorithm>

#include "core/buying/custody.h"
#include "core/buying/negotiation.h"
#include "core/buying/settlement.h"
#include "core/buying/streaming.h"
#include "core/buying/watch.h"

namespace abacus {
namespace {

Duration answer_time(const Turn& t, const Lease& lease) {
  const BuyingConfig& config = t.desk.config;
  return std::min(lease.round_trip * 2 + config.answer_margin, config.answer_max);
}

Award award_for(const Turn& t, const Job& job, const Lease& lease) {
  const Awarded& awarded = std::get<Awarded>(lease.state);
  Award award;
  award.lease = lease.id();
  award.negotiation = awarded.negotiation;
  award.quote = awarded.quote;
  award.bundle = job.spec().bundle;
  award.slots = lease.slots_awarded;
  award.price = lease.record.price;
  award.fee = lease.record.fee;
  award.lease_time = lease.record.until - lease.record.opened_at;
  award.job = job.id();
  award.work = job.spec().work;
  award.buyer = t.desk.self;
  award.input_bytes = job.spec().input_bytes;
  for (const auto& [key, attempt] : lease.attempts) {
    if (award.attempts.size() == limits::kAttemptsPerMessage) break;
    if (attempt.interrupted) continue;
    award.attempts.push_back({job.task_id(key.first), key.second});
  }
  return award;
}

void send_award(Turn& t, Job& job, const Lease& lease) {
  ++t.desk.counters.awards_sent;
  Send send{lease.record.seller, job.trace, award_for(t, job, lease)};
  if (job.at_most_once()) {
    t.fx.after_commit(std::move(send));
  } else {
    t.fx.soft(std::move(send));
  }
}

BoughtLeaseRecord record_for(Turn& t, const Job& job, const Deal& deal) {
  BoughtLeaseRecord record;
  t.desk.prng.fill(record.lease.bytes);
  record.seller = deal.seller;
  record.region = deal.region;
  record.job = job.id();
  record.slots = deal.slots;
  record.price = deal.price;
  record.fee = deal.fee;
  record.opened_at = record.price_since = t.now.wall;
  record.until = t.now.wall + deal.lease_time;
  return record;
}

NegotiationLine line_of(const Lease& lease, const Awarded& awarded, NegotiationStep step) {
  NegotiationLine line = line_of(lease, step);
  line.negotiation = awarded.negotiation;
  return line;
}

void give_back(Turn& t, Job& job, const Lease& lease, const AttemptKey& key) {
  Task& task = job.task(key.first);
  if (task.ended() || task.lease != lease.id()) return;
  task.lease = {};
  if (task.cancelled) return end_task(t, job, key.first, cancelled_end(t));
  task.phase = TaskPhase::waiting;
  job.pending.add_again(key.first);
}

/// Gives the tasks of a lease that never came to be back to those that wait; cancelled ones end.
void take_back(Turn& t, Job& job, Lease& lease) {
  auto attempts = std::move(lease.attempts);
  lease.attempts.clear();
  for (const auto& [key, attempt] : attempts) give_back(t, job, lease, key);
}

/// The same while the seller may have started some of them after all: their ends still count if they come first.
void supersede_all(Turn& t, Job& job, Lease& lease) {
  for (auto& [key, attempt] : lease.attempts) {
    attempt.superseded = true;
    job.strays.emplace(key.first, lease.id());
    give_back(t, job, lease, key);
  }
}

/// Tasks that were cancelled while the award was out: the seller may have missed it.
void stop_cancelled(Turn& t, Job& job, Lease& lease) {
  std::vector<AttemptKey> keys;
  for (const auto& [key, attempt] : lease.attempts) {
    if (attempt.interrupted) keys.push_back(key);
  }
  interrupt(t, job, lease, keys);
}

/// The award came to nothing and nothing of it is left.
void forget(Turn& t, Job& job, Lease& lease, bool resolved_as_refused) {
  LeaseId id = lease.id();
  take_back(t, job, lease);
  drop_lease(t, job, lease);
  if (resolved_as_refused) award_resolved(t, job, id, false);
  after_change(t, job);
}

void abandon(Turn& t, Job& job, Lease& lease) {
  LeaseId id = lease.id();
  Awarded awarded = std::get<Awarded>(lease.state);
  t.note(job, line_of(lease, awarded, NegotiationStep::silent));
  award_landed(t, job, lease, false);
  ++job.verdict.silent;
  award_refused(t, job, lease.record.seller.node, std::nullopt);
  supersede_all(t, job, lease);
  release(t, job, lease, ReleaseReason::cancelled);
  award_resolved(t, job, id, false);
  after_change(t, job);
}

}  // namespace

LeaseId open_lease(Turn& t, Job& job, const Deal& deal) {
  BoughtLeaseRecord record = record_for(t, job, deal);
  Lease& lease = t.desk.leases[record.lease];
  lease.record = std::move(record);
  lease.slots_awarded = deal.slots;
  lease.round_trip = deal.round_trip;
  lease.place = static_cast<std::uint32_t>(job.places.size());
  lease.state = Awarded{deal.negotiation, deal.quote, 1, t.now.mono + answer_time(t, lease)};
  job.places.push_back({deal.seller.node, deal.region, deal.round, deal.price});
  job.leases.push_back(&lease);
  std::size_t first = std::min<std::size_t>({deal.slots, job.pending.size(), limits::kAttemptsPerMessage});
  for (std::size_t i = 0; i < first; ++i) begin_attempt(t, job, lease);
  t.fx.put(lease.record);
  send_award(t, job, lease);
  ++t.desk.sellers.at(deal.seller.node, t.now).awards_in_flight;
  t.desk.sellers.take_room(deal.seller.node, job.shape, deal.slots, t.now);
  arm(t, job, lease);
  return lease.id();
}

void on_accept(Turn& t, const Contact& from, const TraceContext& trace, const Accept& accept) {
  Lease* lease = t.desk.lease(accept.lease);
  Job* job = lease ? t.desk.job(lease->record.job) : nullptr;
  if (!job) return t.fx.send(from, trace, Release{accept.lease, ReleaseReason::unknown_lease});
  if (lease->record.seller.node != from.node) return;
  if (lease->released()) return t.send(*job, from, Release{accept.lease, ReleaseReason::cancelled});
  auto* awarded = std::get_if<Awarded>(&lease->state);
  if (!awarded) return;
  award_landed(t, *job, *lease, true);
  Duration asked_for = lease->record.until - lease->record.opened_at;
  Duration time = std::clamp(accept.lease_time, Duration{}, asked_for);
  std::uint32_t slots = std::clamp(accept.slots, 1u, lease->slots_awarded);
  bool changed = slots != lease->record.slots || time != asked_for || job->at_most_once();
  lease->record.slots = slots;
  lease->record.opened_at = t.now.wall;
  lease->record.until = t.now.wall + time;
  // The seller counts from the award that reached it first. A job with a budget pays from here: that was committed.
  if (job->spec().budget) lease->record.price_since = t.now.wall;
  if (changed) t.fx.put(lease->record);
  t.note(*job, line_of(*lease, *awarded, NegotiationStep::accepted));
  go_live(t, *job, *lease);
  stop_cancelled(t, *job, *lease);
  recall_surplus(t, *job, *lease);
  award_resolved(t, *job, accept.lease, true);
  feed(t, *job, *lease);
  after_lease_change(t, *job, *lease);
}

void on_refuse(Turn& t, const Contact& from, const Refuse& refuse) {
  Lease* lease = t.desk.lease(refuse.lease);
  Job* job = lease ? t.desk.job(lease->record.job) : nullptr;
  if (!job || lease->record.seller.node != from.node) return;
  if (lease->released()) {
    // It was given up for silence; now it is certain that nothing came of it.
    if (lease->idle()) drop_lease(t, *job, *lease);
    return after_change(t, *job);
  }
  auto* awarded = std::get_if<Awarded>(&lease->state);
  if (!awarded) return;
  ++t.desk.counters.awards_refused;
  award_landed(t, *job, *lease, false);
  NegotiationLine line = line_of(*lease, *awarded, NegotiationStep::refused);
  line.decline = refuse.detail;
  t.note(*job, std::move(line));
  job->verdict.declines.push_back(refuse.detail);
  award_refused(t, *job, from.node, refuse.fresh);
  forget(t, *job, *lease, true);
}

void on_award_unanswered(Turn& t, Job& job, Lease& lease) {
  Awarded& awarded = std::get<Awarded>(lease.state);
  bool tries_left = awarded.tries < t.desk.config.award_tries;
  if (!tries_left && !job.at_most_once()) return abandon(t, job, lease);
  WallTime surely_over = lease.record.until + t.desk.config.extension + t.desk.config.clock_bound;
  if (!tries_left && t.now.wall >= surely_over) {
    award_landed(t, job, lease, false);
    return forget(t, job, lease, true);
  }
  ++awarded.tries;
  Duration wait = answer_time(t, lease) * (std::int64_t{1} << std::min(awarded.tries, 8u));
  awarded.again_at = t.now.mono + std::min(wait, t.desk.config.beat_every);
  send_award(t, job, lease);
  arm(t, job, lease);
}

void award_landed(Turn& t, Job& job, const Lease& lease, bool accepted) {
  SellerNotes& notes = t.desk.sellers.at(lease.record.seller.node, t.now);
  if (notes.awards_in_flight > 0) --notes.awards_in_flight;
  notes.acceptance.add(accepted);
  if (accepted) notes.shape(job.shape).cool_down.succeed();
}

}  // namespace abacus
