// For tests: a seller with a journal, an executor that plays dead on request, and whatever it sent.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "core/selling/selling.h"

namespace abacus::selling_test {

inline constexpr std::uint64_t kGib = 1ull << 30;

template <class AnyId>
AnyId id(std::uint8_t n) {
  AnyId value;
  value.bytes[0] = n;
  value.bytes[1] = 1;
  return value;
}

inline Contact contact(std::uint8_t n) {
  Contact c;
  c.node = id<NodeId>(n);
  c.endpoint.port = n;
  return c;
}

/// Attempt `number` of task `index` of job `job`.
inline AttemptId attempt(std::uint8_t job, std::uint32_t index, std::uint32_t number = 1) {
  return {{id<JobId>(job), index}, number};
}

/// Changes become durable, and held effects leave, only in commit(). The executor obeys at once, but starts and ends
/// processes only when told to.
class World {
 public:
  explicit World(Capacity capacity = {8'000, 32 * kGib, 0, {}}, SellingConfig selling_config = {},
                 PricingConfig pricing_config = {})
      : config(selling_config), pricing(pricing_config), node(std::move(capacity)) {
    boot();
  }

  struct Process {
    Launch launch;
    bool started = false;
    bool interrupted = false;
    std::optional<TaskEnd> end;
  };
  using Lease = std::map<AttemptId, Process>;

  // ---- driving ----
  template <class M>
  void say(const Contact& from, const M& message) {
    Effects fx;
    if constexpr (std::is_same_v<M, Rfq>) {
      selling->on(from, {}, message, referrals, now, fx);
    } else if constexpr (std::is_same_v<M, Award>) {
      selling->on(from, id<OrgId>(9), {}, message, now, fx);
    } else {
      selling->on(from, {}, message, now, fx);
    }
    take(std::move(fx));
  }
  template <class E>
  void tell(const E& event) {
    Effects fx;
    selling->on(event, now, fx);
    take(std::move(fx));
  }
  /// Time passes; due timers fire at their times.
  void pass(Duration time) {
    MonoTime end = now.mono + time;
    for (std::optional<MonoTime> wake = selling->next_wake(); wake && *wake <= end; wake = selling->next_wake()) {
      Duration step = std::max(*wake - now.mono, Duration{});
      now = {now.mono + step, now.wall + step};
      Effects fx;
      selling->on_wake(now, fx);
      take(std::move(fx));
      std::optional<MonoTime> next = selling->next_wake();
      ASSERT_TRUE(!next || *next > now.mono) << "a timer that is due stays due";
    }
    now = {end, now.wall + (end - now.mono)};
  }
  void commit() {
    for (JournalChange& change : uncommitted) {
      std::pair<std::uint16_t, Bytes> key{change.kind, change.key};
      if (change.value) {
        journal[key] = *change.value;
      } else {
        journal.erase(key);
      }
    }
    uncommitted.clear();
    for (Effect& effect : std::exchange(held, {})) carry_out(std::move(effect));
  }
  /// kill -9: what was not durable is gone, processes run on.
  void crash() {
    uncommitted.clear();
    held.clear();
    boot();
  }
  void boot() {
    selling =
        std::make_unique<Selling>(config, pricing, contact(100), id<OrgId>(9), "here", node, Prng(++boots), 1'000);
    for (const auto& [key, value] : journal) {
      Result<Record> record = decode_record(key.first, value);
      ASSERT_TRUE(record.has_value());
      if (auto* lease = std::get_if<SoldLeaseRecord>(&*record)) selling->restore(*lease);
      if (auto* run = std::get_if<RunRecord>(&*record)) selling->restore(*run);
    }
    Effects fx;
    selling->restored(now, fx);
    take(std::move(fx));
  }
  void adopt() {
    RunsAdopted adopted;
    for (const auto& [lease, processes] : executor) {
      AdoptedLease& entry = adopted.leases.emplace_back();
      entry.lease = lease;
      for (const auto& [a, process] : processes) {
        entry.attempts.push_back({a, process.end.has_value(), process.end.value_or(TaskEnd{})});
      }
    }
    tell(adopted);
  }

  // ---- the executor ----
  void break_lease(const LeaseId& lease) {
    executor.erase(lease);
    broken.insert(lease);
    tell(LeaseProcessLost{lease, "killed"});
  }
  void start(const LeaseId& lease, const AttemptId& a) {
    Process& process = executor.at(lease).at(a);
    process.started = true;
    tell(ProcessStarted{lease, a, now.wall});
  }
  void finish(const LeaseId& lease, const AttemptId& a, int exit_code = 0) {
    TaskEnd end;
    Process& process = executor.at(lease).at(a);
    end.kind = process.interrupted ? EndKind::signalled : EndKind::exited;
    end.exit_code = exit_code;
    end.started_at = now.wall - seconds(1);
    end.ended_at = now.wall;
    process.end = end;
    tell(ProcessEnded{lease, a, end});
  }
  std::vector<std::pair<LeaseId, AttemptId>> unfinished() const {
    std::vector<std::pair<LeaseId, AttemptId>> all;
    for (const auto& [lease, processes] : executor) {
      for (const auto& [a, process] : processes) {
        if (!process.end) all.emplace_back(lease, a);
      }
    }
    return all;
  }

  // ---- what came out ----
  /// Takes the messages of a kind off the pile.
  template <class M>
  std::vector<M> sent() {
    std::vector<M> found;
    for (auto& [to, message] : std::exchange(outbox, {})) {
      if (auto* m = std::get_if<M>(&message)) {
        found.push_back(*m);
      } else {
        outbox.emplace_back(to, message);
      }
    }
    return found;
  }
  template <class R>
  std::vector<R> records() const {
    std::vector<R> found;
    for (const auto& [key, value] : journal) {
      if (key.first == kRecordKind<R>) found.push_back(decode<R>(value).value());
    }
    return found;
  }

  SellingConfig config;
  PricingConfig pricing;
  Capacity node;
  Now now{MonoTime{hours(1).ns}, WallTime{hours(500'000).ns}};
  std::unique_ptr<Selling> selling;
  std::uint64_t boots = 0;
  bool commit_at_once = true;
  std::vector<OfferRef> referrals;
  std::vector<JournalChange> uncommitted;
  std::vector<Effect> held;
  std::map<std::pair<std::uint16_t, Bytes>, Bytes> journal;
  std::map<LeaseId, Lease> executor;
  std::set<LeaseId> broken;  ///< Their shims died; what is on the way to them falls on deaf ears.
  std::map<AttemptId, int> launches;
  std::vector<std::pair<LeaseId, AttemptId>> stagings;
  std::vector<std::pair<Contact, Message>> outbox;
  std::vector<CommandAnswer> answers;

 private:
  void take(Effects fx) {
    for (JournalChange& change : fx.changes) uncommitted.push_back(std::move(change));
    for (Effect& effect : fx.now) carry_out(std::move(effect));
    for (Effect& effect : fx.held) held.push_back(std::move(effect));
    if (commit_at_once) commit();
  }
  void carry_out(Effect effect) {
    std::visit([&](auto& e) { act(e); }, effect);
  }
  void act(Send& send) { outbox.emplace_back(send.to, std::move(send.message)); }
  void act(OpenLease& open) { executor[open.lease]; }
  void act(CloseLease& close) { executor.erase(close.lease); }
  void act(StageInputs& stage) { stagings.emplace_back(stage.lease, stage.attempt); }
  void act(Launch& launch) {
    if (broken.contains(launch.lease)) return;
    ASSERT_TRUE(executor.contains(launch.lease)) << "launched in a lease that is not open";
    ++launches[launch.attempt];
    executor[launch.lease][launch.attempt] = {launch, false, false, {}};
  }
  void act(InterruptProcess& interrupt) {
    auto lease = executor.find(interrupt.lease);
    if (lease == executor.end()) return;
    if (auto found = lease->second.find(interrupt.attempt); found != lease->second.end())
      found->second.interrupted = true;
  }
  void act(ForgetAttempt& forget) {
    if (auto lease = executor.find(forget.lease); lease != executor.end()) lease->second.erase(forget.attempt);
  }
  void act(Answer& answer) { answers.push_back(answer.answer); }
  template <class Other>
  void act(Other&) {}
};

inline Bundle cpus(std::uint32_t count) { return {count * 1'000, 0, 0, {}}; }

inline Rfq rfq(std::uint32_t count, Bundle bundle = cpus(1), NegotiationId negotiation = 1) {
  Rfq question;
  question.negotiation = negotiation;
  question.bundle = std::move(bundle);
  question.count = count;
  question.lease_time = minutes(10);
  question.expected_run = seconds(10);
  question.region = "here";
  return question;
}

/// An award at a price that is surely enough.
inline Award award(std::uint8_t lease, std::uint8_t buyer, std::uint32_t slots, std::vector<AttemptId> attempts = {},
                   Bundle bundle = cpus(1)) {
  Award a;
  a.lease = id<LeaseId>(lease);
  a.negotiation = 1;
  a.bundle = std::move(bundle);
  a.slots = slots;
  a.price = Price{1'000'000'000};
  a.lease_time = minutes(10);
  a.job = id<JobId>(lease);
  a.work.command = {"true"};
  a.buyer = contact(buyer);
  a.attempts = std::move(attempts);
  return a;
}

}  // namespace abacus::selling_test
