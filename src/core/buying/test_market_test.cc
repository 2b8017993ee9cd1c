// The scripted market behind the tests of buying.
#include "core/buying/test_market.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace abacus::test {

Market::Market(std::uint64_t seed, std::vector<SellerPlan> plans, BuyingConfig config) : config_(config), prng_(seed) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Seller seller;
    seller.plan = plans[i];
    seller.contact.node = node(i);
    seller.contact.endpoint.port = static_cast<std::uint16_t>(7000 + i);
    auto offer = std::make_shared<SignedOffer>();
    offer->offer.contact = seller.contact;
    offer->offer.region = plans[i].region;
    offer->offer.capacity.cpu_milli = plans[i].cpu_milli;
    offer->offer.capacity.memory_bytes = 1ull << 36;
    offers_.push_back(offer);
    sellers.push_back(std::move(seller));
  }
  std::sort(offers_.begin(), offers_.end(),
            [](const OfferRef& a, const OfferRef& b) { return a->offer.contact.node < b->offer.contact.node; });
  crash_buyer();
}

NodeId Market::node(std::size_t i) {
  NodeId id;
  id.bytes[0] = static_cast<std::uint8_t>(i + 1);
  id.bytes[1] = static_cast<std::uint8_t>(i >> 8);
  return id;
}

OfferRef Market::find(const NodeId& node) const {
  for (const OfferRef& offer : offers_) {
    if (offer->offer.contact.node == node) return offer;
  }
  return nullptr;
}

Duration Market::round_trip(const NodeId& id) const { return id == node(0) ? Duration{} : faults.latency * 2; }

void Market::crash_buyer() {
  Contact self;
  self.node = node(0);
  self.endpoint.port = 7000;
  ++epoch_;
  std::string region = sellers.empty() ? "north" : sellers[0].plan.region;
  buying = std::make_unique<Buying>(config_, self, OrgId{}, region, Prng(prng_.next()));
  for (const auto& [key, value] : journal) {
    Result<Record> record = decode_record(key.first, value);
    if (!record) {
      violations.push_back("journal: " + record.error().message);
      continue;
    }
    std::visit(
        [&]<class R>(const R& r) {
          if constexpr (requires { buying->restore(r); }) buying->restore(r);
        },
        *record);
  }
  handle([&](Effects& fx) { buying->restored(*this, now(), fx); });
}

void Market::later(Duration in, std::function<void()> act) { events_.push({now_ + in, order_++, std::move(act)}); }

void Market::handle(const std::function<void(Effects&)>& act) {
  auto fx = std::make_shared<Effects>();
  act(*fx);
  check_budgets();
  for (Effect& effect : fx->now) carry_out(effect);
  std::uint64_t epoch = epoch_;
  later(commit_time, [this, fx, epoch] {
    if (epoch != epoch_) return;
    for (JournalChange& change : fx->changes) {
      if (change.value) {
        journal[{change.kind, change.key}] = *change.value;
      } else {
        journal.erase({change.kind, change.key});
      }
    }
    for (Effect& effect : fx->held) carry_out(effect);
  });
}

void Market::check_budgets() {
  for (const JobView& job : buying->jobs(now(), 100)) {
    if (job.budget && job.spent + job.committed > *job.budget) {
      violations.push_back("budget " + to_string(*job.budget) + " passed: " + to_string(job.spent) + " spent, " +
                           to_string(job.committed) + " committed");
    }
  }
}

void Market::carry_out(Effect& effect) {
  if (auto* send = std::get_if<Send>(&effect)) {
    for (std::size_t i = 0; i < sellers.size(); ++i) {
      if (sellers[i].contact.node == send->to.node) deliver(i, send->message);
    }
  } else if (auto* changed = std::get_if<TaskChanged>(&effect)) {
    if (changed->ended && ++ends_told[changed->task] > 1)
      violations.push_back("ended twice: " + changed->task.to_string());
  } else if (auto* job = std::get_if<JobChanged>(&effect)) {
    if (job->ended) ++jobs_ended_told;
  } else if (auto* answer = std::get_if<Answer>(&effect)) {
    answers_.insert_or_assign(answer->request, answer->answer);
  } else if (auto* log = std::get_if<Log>(&effect)) {
    warnings.push_back(log->text);
  } else if (auto* fetch = std::get_if<FetchOutputs>(&effect)) {
    OutputsFetched fetched{fetch->attempt, fetch_problem ? fetch_problem(*fetch) : ""};
    later(milliseconds(1), [this, fetched] { handle([&](Effects& fx) { buying->on(fetched, *this, now(), fx); }); });
  }
}

void Market::deliver(std::size_t i, Message message) {
  ++sent_[name_of(message)];
  auto note = [&](const LeaseId& lease, const std::vector<AttemptId>& attempts) {
    for (const AttemptId& attempt : attempts) {
      auto& leases = leases_of_attempt[attempt];
      leases.insert(lease);
      if (leases.size() > 1 && epoch_ == 1) violations.push_back("attempt in two leases: " + attempt.to_string());
    }
  };
  if (auto* award = std::get_if<Award>(&message)) note(award->lease, award->attempts);
  if (auto* start = std::get_if<Start>(&message)) note(start->lease, start->attempts);
  std::uint32_t copies = 1;
  if (i != 0 && prng_.chance(faults.loss_percent, 100)) copies = 0;
  if (i != 0 && prng_.chance(faults.repeat_percent, 100)) copies = 2;
  for (std::uint32_t c = 0; c < copies; ++c) {
    Duration extra{faults.jitter.ns > 0 ? prng_.between(0, faults.jitter.ns) : 0};
    later(i == 0 ? Duration{} : faults.latency + extra, [this, i, message] { at_seller(i, message); });
  }
}

void Market::reply(std::size_t i, Message message) {
  std::uint32_t copies = 1;
  if (i != 0 && prng_.chance(faults.loss_percent, 100)) copies = 0;
  if (i != 0 && prng_.chance(faults.repeat_percent, 100)) copies = 2;
  for (std::uint32_t c = 0; c < copies; ++c) {
    Duration extra{faults.jitter.ns > 0 ? prng_.between(0, faults.jitter.ns) : 0};
    later(i == 0 ? Duration{} : faults.latency + extra, [this, i, message] { inject(i, message); });
  }
}

void Market::inject(std::size_t i, Message message) {
  Contact from{node(i), {}};
  handle([&](Effects& fx) {
    std::visit(
        [&]<class M>(const M& m) {
          if constexpr (requires { buying->on(from, TraceContext{}, m, *this, now(), fx); }) {
            buying->on(from, TraceContext{}, m, *this, now(), fx);
          }
        },
        message);
  });
}

void Market::at_seller(std::size_t i, const Message& message) {
  Seller& seller = sellers[i];
  if (seller.stopped || seller.plan.silent) return;
  std::visit(
      [&]<class M>(const M& m) {
        if constexpr (requires { on(seller, i, m); }) on(seller, i, m);
      },
      message);
}

void Market::stop_seller(std::size_t i, bool forget) {
  sellers[i].stopped = true;
  if (!forget) return;
  ++sellers[i].generation;
  sellers[i].leases.clear();
  sellers[i].taken = 0;
}

void Market::start_seller(std::size_t i) { sellers[i].stopped = false; }

void Market::suspect(std::size_t i, bool on) {
  if (on) {
    suspects_.insert(node(i));
  } else {
    suspects_.erase(node(i));
  }
  handle([&](Effects& fx) { buying->on_notice(node(i), on, *this, now(), fx); });
}

void Market::step() {
  std::optional<MonoTime> wake = buying->next_wake();
  if (wake && (events_.empty() || *wake <= events_.top().at)) {
    now_ = std::max(now_, *wake);
    ++wakes_;
    handle([&](Effects& fx) { buying->on_wake(*this, now(), fx); });
    return;
  }
  Event event = events_.top();
  events_.pop();
  now_ = std::max(now_, event.at);
  event.act();
}

void Market::run_for(Duration time) {
  MonoTime end = now_ + time;
  for (std::uint64_t steps = 0; steps < 3'000'000; ++steps) {
    std::optional<MonoTime> next = buying->next_wake();
    if (!events_.empty() && (!next || events_.top().at < *next)) next = events_.top().at;
    if (!next || *next > end) {
      now_ = std::max(now_, end);
      return;
    }
    step();
  }
  violations.push_back("it never comes to rest");
}

bool Market::run_until_ended(const JobId& job, Duration limit) {
  MonoTime end = now_ + limit;
  for (std::uint64_t steps = 0; steps < 5'000'000 && now_ < end; ++steps) {
    Result<JobView> view = buying->job(job, now());
    if (view && view->ended) {
      run_for(milliseconds(5));
      return true;
    }
    step();
  }
  return false;
}

bool Market::quiet() {
  std::uint64_t before = wakes_;
  run_for(minutes(90));
  return buying->leases().empty() && wakes_ - before <= 2;
}

CommandAnswer Market::command(const std::function<void(RequestId, Effects&)>& give) {
  RequestId request = ++requests_;
  handle([&](Effects& fx) { give(request, fx); });
  for (int i = 0; i < 100'000 && !answers_.contains(request); ++i) step();
  return answers_.at(request);
}

JobId Market::submit(JobSpec spec) {
  CommandAnswer answer = command([&](RequestId r, Effects& fx) { buying->on(SubmitJob{r, spec}, *this, now(), fx); });
  const auto* submitted = std::get_if<JobSubmitted>(&answer);
  if (!submitted) violations.push_back("submission refused: " + std::get<Error>(answer).message);
  return submitted ? submitted->job : JobId{};
}

void Market::cancel(const JobId& job, std::optional<std::uint32_t> index) {
  command([&](RequestId r, Effects& fx) { buying->on(CancelJob{r, job, index}, *this, now(), fx); });
}

PlanResult Market::plan(JobSpec spec) {
  return std::get<PlanResult>(command([&](RequestId r, Effects& fx) {
    buying->on(PlanJob{r, spec}, *this, now(), fx);
  }));
}

// ---- the sellers ----------------------------------------------------------------------------------------------------

Quote Market::quote_of(const Seller& s, const Rfq& rfq) const {
  Quote quote;
  quote.negotiation = rfq.negotiation;
  quote.round = rfq.round;
  quote.quote = 7;
  quote.lots = {{std::min(rfq.count, s.plan.slots - s.taken), s.plan.price, s.plan.fee, {}}};
  if (s.plan.nonsense) quote.lots[0].price = Price{-4'000'000'000'000};
  quote.valid_for = seconds(1);
  quote.lease_time_max = hours(24);
  quote.region = s.plan.region;
  return quote;
}

void Market::on(Seller& s, std::size_t i, const Rfq& rfq) {
  Decline decline{rfq.negotiation, rfq.round, {}, {}};
  if (s.plan.declines || s.taken >= s.plan.slots) {
    if (!rfq.plan_only && !s.plan.declines) s.declined.push_back(rfq);
    return reply(i, decline);
  }
  if (rfq.price_limit && *rfq.price_limit < s.plan.price) {
    decline.detail.reason = DeclineReason::price_too_low;
    decline.detail.lowest_price = s.plan.price;
    return reply(i, decline);
  }
  reply(i, quote_of(s, rfq));
}

void Market::on(Seller& s, std::size_t i, const Award& award) {
  auto known = s.leases.find(award.lease);
  if (known == s.leases.end()) {
    bool refuse = s.refused.contains(award.lease) || s.taken >= s.plan.slots;
    if (!refuse && s.plan.refuse_next > 0) {
      --s.plan.refuse_next;
      refuse = true;
    }
    if (refuse) {
      s.refused.insert(award.lease);
      return reply(i, Refuse{award.lease, {}, std::nullopt});
    }
    SoldLease lease;
    lease.award = award;
    std::uint32_t fewer = std::min(s.plan.accept_fewer_by, award.slots - 1);
    lease.slots = std::min(award.slots - fewer, s.plan.slots - s.taken);
    lease.opened_at = lease.price_since = now().wall;
    lease.price = award.price;
    lease.until = now().wall + award.lease_time;
    s.taken += lease.slots;
    for (const AttemptId& attempt : award.attempts) lease.attempts.emplace(attempt, Attempt{});
    known = s.leases.emplace(award.lease, std::move(lease)).first;
  }
  if (known->second.receipt) return reply(i, *known->second.receipt);
  reply(i, Accept{award.lease, known->second.slots, known->second.until - now().wall});
  advance(s, i, award.lease);
}

void Market::advance(Seller& s, std::size_t i, const LeaseId& id) {
  SoldLease& lease = s.leases.at(id);
  std::uint32_t running = 0;
  for (auto& [attempt, state] : lease.attempts) running += state.state == AttemptState::running;
  for (auto& [attempt, state] : lease.attempts) {
    if (running >= lease.slots || lease.receipt) return;
    if (state.state != AttemptState::staging) continue;
    state.state = AttemptState::running;
    ++running;
    ++launches[attempt];
    reply(i, Started{id, attempt, now().wall});
    EndKind kind = EndKind::exited;
    if (s.plan.lose_next > 0 && s.plan.lose_next--)
      kind = EndKind::lost;
    else if (s.plan.interrupt_next > 0 && s.plan.interrupt_next--)
      kind = EndKind::interrupted;
    std::uint64_t generation = s.generation;
    later(s.plan.run, [this, i, id, a = attempt, kind, generation] {
      if (generation == sellers[i].generation) end_attempt(sellers[i], i, id, a, kind);
    });
  }
}

void Market::end_attempt(Seller& s, std::size_t i, const LeaseId& id, const AttemptId& attempt, EndKind kind) {
  auto lease = s.leases.find(id);
  if (lease == s.leases.end()) return;
  auto found = lease->second.attempts.find(attempt);
  if (found == lease->second.attempts.end() || found->second.state == AttemptState::ended) return;
  bool ran = found->second.state == AttemptState::running;
  found->second.state = AttemptState::ended;
  Done done;
  done.lease = id;
  done.attempt = attempt;
  done.end.kind = kind;
  done.end.ended_at = now().wall;
  if (ran) {
    done.end.started_at = now().wall - s.plan.run;
    done.running = s.plan.run;
  }
  if (s.plan.outputs && kind == EndKind::exited) done.end.output.bytes[0] = 1;
  found->second.done = done;
  send_done(i, id, attempt, seconds(1));
  advance(s, i, id);
}

void Market::send_done(std::size_t i, const LeaseId& id, const AttemptId& attempt, Duration again) {
  Seller& s = sellers[i];
  auto lease = s.leases.find(id);
  if (lease == s.leases.end()) return;
  auto found = lease->second.attempts.find(attempt);
  if (found == lease->second.attempts.end() || found->second.state != AttemptState::ended) return;
  if (!s.stopped) reply(i, found->second.done);
  later(again, [=, this] { send_done(i, id, attempt, std::min(again * 2, seconds(60))); });
}

void Market::on(Seller& s, std::size_t i, const Start& start) {
  auto lease = s.leases.find(start.lease);
  if (lease == s.leases.end() || lease->second.receipt) {
    LeaseReport report{start.lease, lease != s.leases.end(), {}};
    for (const AttemptId& attempt : start.attempts) report.attempts.push_back({attempt, AttemptState::unknown});
    return reply(i, report);
  }
  for (const AttemptId& attempt : start.attempts) {
    if (!lease->second.past.contains(attempt)) lease->second.attempts.emplace(attempt, Attempt{});
  }
  advance(s, i, start.lease);
}

void Market::on(Seller& s, std::size_t, const DoneAck& ack) {
  auto lease = s.leases.find(ack.lease);
  if (lease == s.leases.end()) return;
  for (const AttemptId& attempt : ack.attempts) {
    auto found = lease->second.attempts.find(attempt);
    if (found == lease->second.attempts.end() || found->second.state != AttemptState::ended) continue;
    lease->second.attempts.erase(found);
    lease->second.past.insert(attempt);
  }
}

void Market::on(Seller& s, std::size_t i, const Interrupt& interrupt) {
  auto lease = s.leases.find(interrupt.lease);
  LeaseReport unknown{interrupt.lease, lease != s.leases.end(), {}};
  for (const AttemptId& attempt : interrupt.attempts) {
    if (lease == s.leases.end() || !lease->second.attempts.contains(attempt)) {
      unknown.attempts.push_back({attempt, AttemptState::unknown});
      if (lease != s.leases.end()) lease->second.past.insert(attempt);
    } else {
      end_attempt(s, i, interrupt.lease, attempt, EndKind::cancelled);
    }
  }
  if (!unknown.attempts.empty()) reply(i, unknown);
}

void Market::on(Seller& s, std::size_t i, const LeaseBeat& beat) {
  auto lease = s.leases.find(beat.lease);
  LeaseReport report{beat.lease, lease != s.leases.end(), {}};
  for (const AttemptId& attempt : beat.attempts) {
    AttemptState state = AttemptState::unknown;
    if (report.known && lease->second.attempts.contains(attempt)) state = lease->second.attempts.at(attempt).state;
    report.attempts.push_back({attempt, state});
  }
  reply(i, report);
  if (!report.known) return;
  for (const AttemptId& attempt : beat.attempts) {
    auto found = lease->second.attempts.find(attempt);
    if (found != lease->second.attempts.end() && found->second.state == AttemptState::ended)
      reply(i, found->second.done);
  }
  if (lease->second.receipt) reply(i, *lease->second.receipt);
}

void Market::on(Seller& s, std::size_t i, const Renew& renew) {
  auto found = s.leases.find(renew.lease);
  if (found == s.leases.end()) return reply(i, LeaseReport{renew.lease, false, {}});
  SoldLease& lease = found->second;
  Price price = s.plan.renewal.value_or(lease.price);
  Renewed renewed{renew.lease, {}, price, s.plan.older ? 0 : renew.round, false};
  if (!s.plan.older && renew.round == lease.round) {
    renewed.price = lease.price;
  } else if (!s.plan.older && *renew.price < price) {
    s.plan.renewal = price + s.plan.renewal_step;
    renewed.offered = true;
  } else {
    lease.owed_before = lease.owed_before + cost_of(lease.price, lease.slots, now().wall - lease.price_since);
    lease.price_since = now().wall;
    lease.price = price;
    lease.round = renew.round;
    lease.until = std::max(lease.until, now().wall + renew.lease_time);
  }
  if (!renewed.offered) renewed.lease_time = lease.until - now().wall;
  if (s.plan.renewed_lost > 0) {
    --s.plan.renewed_lost;
  } else {
    reply(i, renewed);
  }
}

void Market::on(Seller& s, std::size_t i, const Release& release) {
  auto lease = s.leases.find(release.lease);
  if (lease == s.leases.end()) return reply(i, LeaseReport{release.lease, false, {}});
  SoldLease& sold = lease->second;
  if (!sold.receipt) {
    s.taken -= sold.slots;
    std::vector<AttemptId> live;
    for (auto& [attempt, state] : sold.attempts) {
      if (state.state != AttemptState::ended) live.push_back(attempt);
    }
    Receipt receipt;
    receipt.lease = release.lease;
    receipt.job = sold.award.job;
    receipt.slots = sold.slots;
    receipt.opened_at = sold.opened_at;
    receipt.closed_at = now().wall;
    Money owed = sold.owed_before + cost_of(sold.price, sold.slots, now().wall - sold.price_since);
    receipt.owed = owed * s.plan.overcharge;
    sold.receipt = receipt;
    for (const AttemptId& attempt : live) end_attempt(s, i, release.lease, attempt, EndKind::cancelled);
    std::vector<Rfq> waiting = std::exchange(s.declined, {});
    for (const Rfq& rfq : waiting) {
      if (s.taken < s.plan.slots) reply(i, CallBack{quote_of(s, rfq)});
    }
  }
  reply(i, *sold.receipt);
}

void Market::on(Seller& s, std::size_t, const ReceiptAck& ack) {
  auto lease = s.leases.find(ack.lease);
  if (lease != s.leases.end() && lease->second.attempts.empty()) s.leases.erase(lease);
}

}  // namespace abacus::test
