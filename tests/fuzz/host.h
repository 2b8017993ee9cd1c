// A node with its driver in a world that the fuzzer rules: a journal, an executor, and messages nobody has carried yet.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/check.h"
#include "core/driver/driver.h"
#include "core/model/record_reader.h"
#include "draw.h"

namespace abacus::fuzz {

class Host final : public World {
 public:
  struct Process {
    Launch launch;
    std::optional<TaskEnd> end;
  };
  struct Lease {
    std::uint32_t slots = 0;
    std::map<AttemptId, Process> processes;
  };

  Host(NodeConfig config, Heard& heard) : config_(std::move(config)), heard_(heard), most_(config_.capacity) {}

  /// Kill -9, if it lived: what was not durable is gone, processes are not.
  void start(Now now) {
    to_come.clear();
    staging.clear();
    fetching.clear();
    pending_.reset();
    driver_ = std::make_unique<Driver>(config_, *this);
    CHECK(driver_->start(now).has_value());
  }
  /// Handles what there is to handle now. Nothing a peer says may keep a node busy for ever.
  void run(Now now) {
    constexpr int kRoundsMax = 200;
    int rounds = 0;
    do {
      CHECK(++rounds < kRoundsMax);
      for (Event& event : std::exchange(to_come, {})) driver_->post(std::move(event));
      carried_out_ = 0;
    } while (driver_->run(now) || !to_come.empty() || driver_->next_wake().value_or(MonoTime{INT64_MAX}) <= now.mono);
  }
  void hear(Event event) { to_come.push_back(std::move(event)); }
  bool commit_is_out() const { return pending_.has_value(); }
  void end_commit(const Status& outcome, Now now) {
    std::vector<JournalChange> changes = *std::exchange(pending_, std::nullopt);
    if (outcome) apply(std::move(changes));
    CHECK(driver_->committed(outcome, now).has_value());
  }
  void probed(const Capacity& capacity) {
    config_.capacity = capacity;
    most_.cpu_milli = std::max(most_.cpu_milli, capacity.cpu_milli);
    most_.memory_bytes = std::max(most_.memory_bytes, capacity.memory_bytes);
    hear(CapacityProbed{capacity});
  }
  RunsAdopted inventory() const {
    RunsAdopted found;
    for (const auto& [id, lease] : leases) {
      AdoptedLease& entry = found.leases.emplace_back(AdoptedLease{id, {}});
      for (const auto& [attempt, process] : lease.processes) {
        entry.attempts.push_back({attempt, process.end.has_value(), process.end.value_or(TaskEnd{})});
      }
    }
    return found;
  }
  const Node& node() const { return *driver_->node(); }
  const NodeConfig& config() const { return config_; }
  const Capacity& most() const { return most_; }
  bool pausing() const { return driver_->pausing(); }

  // ---- World ----
  void carry_out(Effect effect) override {
    constexpr std::size_t kEffectsMax = 20'000;
    CHECK_MSG(++carried_out_ < kEffectsMax, "effects without end");
    heard_.learn(effect);
    std::visit([&](auto& e) { act(e); }, effect);
  }
  void commit(std::vector<JournalChange> changes) override {
    CHECK(!pending_);
    for (const JournalChange& change : changes) {
      if (!change.value) continue;
      auto record = decode_record(change.kind, *change.value);
      CHECK_MSG(record.has_value(), "a record that cannot be read back: " + record.error().message);
    }
    pending_ = std::move(changes);
  }
  Result<std::vector<Record>> load() override {
    RecordReader reader;
    for (const auto& [name, value] : rows) TRY_STATUS(reader.add(name.first, name.second, value));
    return reader.take();
  }

  std::deque<Send> sent;
  std::vector<Event> to_come;
  std::vector<StageInputs> staging;
  std::vector<FetchOutputs> fetching;
  std::map<LeaseId, Lease> leases;
  std::map<std::pair<std::uint16_t, Bytes>, Bytes> rows;
  Duration clock_offset;

 private:
  void apply(std::vector<JournalChange> changes) {
    for (JournalChange& change : changes) {
      if (change.value) {
        rows.insert_or_assign({change.kind, change.key}, std::move(*change.value));
      } else {
        rows.erase({change.kind, change.key});
      }
    }
  }

  template <class E>
  void act(E&) {}
  void act(Send& send) {
    constexpr std::size_t kUnderWayMax = 128;
    auto again = decode_envelope(encode_envelope({send.message, send.trace}));
    CHECK_MSG(again.has_value(), "a message that nobody takes: " + again.error().message);
    sent.push_back(std::move(send));
    if (sent.size() > kUnderWayMax) sent.pop_front();
  }
  void act(SignOffer& sign) { hear(OfferSigned{*make_signed_offer(encode(sign.offer), {})}); }
  void act(CheckOffers& check) { hear(OffersChecked{std::move(check.offers)}); }
  void act(AdoptRuns&) { hear(inventory()); }
  void act(OpenLease& open) { leases[open.lease].slots = open.slots; }
  void act(CloseLease& close) { leases.erase(close.lease); }
  void act(StageInputs& stage) { staging.push_back(std::move(stage)); }
  void act(FetchOutputs& fetch) { fetching.push_back(std::move(fetch)); }
  void act(ForgetAttempt& forget) {
    if (auto lease = leases.find(forget.lease); lease != leases.end()) lease->second.processes.erase(forget.attempt);
  }
  void act(Launch& launch) {
    auto lease = leases.find(launch.lease);
    CHECK_MSG(lease != leases.end(), "launched outside of any lease");
    auto& processes = lease->second.processes;
    if (processes.contains(launch.attempt)) return;
    std::size_t running = 1;
    for (const auto& [attempt, process] : processes) running += process.end ? 0 : 1;
    CHECK_MSG(running <= lease->second.slots, "more processes than slots");
    processes.emplace(launch.attempt, Process{launch, {}});
  }

  NodeConfig config_;
  Heard& heard_;
  Capacity most_;
  std::unique_ptr<Driver> driver_;
  std::optional<std::vector<JournalChange>> pending_;
  std::size_t carried_out_ = 0;
};

}  // namespace abacus::fuzz
