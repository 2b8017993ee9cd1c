// What each effect does to a simulated machine, and how long that takes.
#include "sim/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/codec.h"

namespace abacus::sim {
namespace {

constexpr Duration kBrokenAfter = milliseconds(1);
constexpr Duration kSignTime = microseconds(60);
constexpr Duration kCheckTime = microseconds(100);
constexpr Duration kPoolBusy = seconds(3);
constexpr Duration kSpawnTime = microseconds(600);
constexpr Duration kReapTime = microseconds(300);
constexpr Duration kTransferTime = milliseconds(2);
constexpr Duration kTransferTimeout = seconds(10);
constexpr Duration kLateAdoption = seconds(5);
constexpr Duration kWriteBackEvery = seconds(3);
constexpr int kRoundsMax = 100'000;

}  // namespace

Signature tag_of(const NodeId& node, BytesView payload) {
  std::uint64_t hash = 0xcbf29ce484222325;
  auto mix = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (std::uint8_t byte : node.bytes) mix(byte);
  for (std::uint8_t byte : payload) mix(byte);
  Signature tag{};
  for (std::size_t i = 0; i < sizeof hash; ++i) tag[i] = static_cast<std::uint8_t>(hash >> (8 * i));
  return tag;
}

// ---- life -----------------------------------------------------------------------------------------------------------

void Simulation::Host::start() {
  ++life_;
  inhabitant_ = simulation_.make_inhabitant_(config_, *this, recorder_);
  Status started = inhabitant_->start(now());
  CHECK_MSG(started.has_value(), started ? "" : started.error().message);
  pump();
}

void Simulation::Host::crash(bool power_loss) {
  inhabitant_.reset();
  if (!power_loss) break_connections();  // The system closes them; without power nobody says anything.
  connections_.close_all();
  wake_scheduled_.reset();
  pump_scheduled_ = commit_waits_ = false;
  if (strikes(FaultPoint::commit_outlives)) disk_.finish();
  disk_.roll_back();
  if (power_loss) processes_.power_loss();
}

void Simulation::Host::post(Event event) {
  for (Checker* checker : simulation_.checkers_) checker->on_event(simulation_, index_, event);
  inhabitant_->post(std::move(event));
}

void Simulation::Host::pump() {
  if (pauses_ > 0 || pump_scheduled_) return;
  if (slowness_ <= Duration{}) return run_inhabitant();
  pump_scheduled_ = true;
  simulation_.schedule(slowness_, PumpDue{index_, life_});
}

void Simulation::Host::pump_due() {
  pump_scheduled_ = false;
  if (pauses_ == 0) run_inhabitant();
}

void Simulation::Host::run_inhabitant() {
  // A node that answers itself without end would stop time; no honest burst comes near.
  for (int rounds = 0; inhabitant_->run(now()); ++rounds) {
    CHECK_MSG(rounds < kRoundsMax,
              fmt::format("node {} is busy without end at {}", index_, to_string(now().mono - MonoTime{})));
  }
  std::optional<MonoTime> wake = inhabitant_->next_wake();
  if (!wake) return;
  MonoTime at = std::max(*wake, simulation_.now_);  // What is overdue is due now.
  if (wake_scheduled_ && *wake_scheduled_ <= at) return;
  wake_scheduled_ = at;
  simulation_.schedule(at - simulation_.now_, Wake{index_, life_});
}

void Simulation::Host::wake_due() {
  if (wake_scheduled_ != simulation_.now_) return;
  wake_scheduled_.reset();
  pump();
}

void Simulation::Host::resume() {
  if (--pauses_ > 0 || !up()) return;
  if (commit_waits_) committed();
  pump();
}

void Simulation::Host::later(Duration after, Event event) {
  simulation_.schedule(after, Post{index_, life_, std::make_shared<const Event>(std::move(event))});
}

// ---- connections ----------------------------------------------------------------------------------------------------

bool Simulation::Host::can_reach(const Contact& contact, const Host& peer) const {
  if (contact.endpoint.known() || connections_.holds(peer.index_, peer.life_, simulation_.now_)) return true;
  OfferRef offer = node() == nullptr ? nullptr : node()->overlay().find(contact.node);
  return offer && offer->offer.contact.endpoint.known();
}

void Simulation::Host::connect(Host& peer) {
  use_connection(peer);
  peer.use_connection(*this);
}

void Simulation::Host::use_connection(Host& peer) {
  auto closed = connections_.use(peer.index_, peer.life_, simulation_.now_);
  if (closed) simulation_.nodes_[*closed]->connections_.close(index_);
}

void Simulation::Host::break_connections() {
  for (const auto& [index, connection] : connections_.all()) {
    Host& peer = *simulation_.nodes_[index];
    bool told = peer.up() && peer.connections_.holds(index_, life_, simulation_.now_) &&
                !simulation_.network_.cut(index_, index, simulation_.now_);
    if (told) peer.later(kBrokenAfter, PeerLost{config_.self.node, "the connection broke"});
  }
}

// ---- disk -----------------------------------------------------------------------------------------------------------

void Simulation::Host::commit(std::vector<JournalChange> changes) {
  if (simulation_.sabotaged(Sabotage::drop_jobs)) {
    std::erase_if(changes, [](const JournalChange& change) {
      return change.kind == kRecordKind<JobRecord> || change.kind == kRecordKind<TaskRecord> ||
             change.kind == kRecordKind<BoughtLeaseRecord>;
    });
  }
  disk_.begin(std::move(changes));
  simulation_.schedule(simulation_.plan_.commit_latency + disk_slowness_, Committed{index_, life_});
}

void Simulation::Host::committed() {
  commit_waits_ = pauses_ > 0;
  if (commit_waits_) return;
  Status outcome;
  if (disk_full_ > 0) outcome = fail(ErrorCode::exhausted, "the disk is full");
  if (strikes(FaultPoint::commit_fails)) outcome = fail(ErrorCode::unavailable, "the disk did not take it");
  if (!outcome) {
    for (Checker* checker : simulation_.checkers_) checker->on_rollback(simulation_, index_);
    disk_.roll_back();
  } else if (!simulation_.sabotaged(Sabotage::late_disk)) {
    disk_.finish();
  } else if (simulation_.now_ - written_back_at_ >= kWriteBackEvery) {
    written_back_at_ = simulation_.now_;
    disk_.finish();
  }
  Status restarted = inhabitant_->committed(outcome, now());
  CHECK(restarted.has_value());
  pump();
}

// ---- effects --------------------------------------------------------------------------------------------------------

void Simulation::Host::show_and_act(const Effect& effect) {
  for (Checker* checker : simulation_.checkers_) checker->on_effect(simulation_, index_, effect);
  std::visit([&](const auto& e) { act(e); }, effect);
}

void Simulation::Host::carry_out(Effect effect) {
  if (simulation_.sabotage_.empty() || tamper(effect)) show_and_act(effect);
}

void Simulation::Host::act(const SignOffer& sign) {
  Bytes payload = encode(sign.offer);
  Signature tag = tag_of(config_.self.node, payload);
  auto offer = make_signed_offer(std::move(payload), tag);
  CHECK_MSG(offer.has_value(), offer ? "" : offer.error().message);
  later(strikes(FaultPoint::signature_is_late) ? kPoolBusy : kSignTime, OfferSigned{*offer});
}

void Simulation::Host::act(const CheckOffers& check) {
  OffersChecked checked;
  for (const OfferRef& offer : check.offers) {
    if (tag_of(offer->offer.contact.node, offer->payload) == offer->signature) checked.offers.push_back(offer);
  }
  later(strikes(FaultPoint::signature_is_late) ? kPoolBusy : kCheckTime, std::move(checked));
}

void Simulation::Host::act(const AdoptRuns&) {
  adopted_ = false;
  bool late = strikes(FaultPoint::adoption_is_late);
  simulation_.schedule(late ? kLateAdoption : Duration{}, AdoptionDue{index_, life_});
}

void Simulation::Host::adoption_due() {
  adopted_ = true;
  post(processes_.inventory());
  for (const auto& [id, lease] : processes_.leases()) {
    if (lease.broken) post(LeaseProcessLost{id, "it died while the agent was away"});
  }
  pump();
}

bool Simulation::Host::reachable(const Contact& other) const {
  std::optional<NodeIndex> to = simulation_.index_of(other.node);
  return to && simulation_.nodes_[*to]->up() && !simulation_.network_.cut(index_, *to, simulation_.now_) &&
         !simulation_.network_.cut(*to, index_, simulation_.now_);
}

void Simulation::Host::act(const StageInputs& stage) {
  bool ok = reachable(stage.from) && !strikes(FaultPoint::staging_fails);
  later(ok ? kTransferTime : kTransferTimeout,
        InputsStaged{stage.lease, stage.attempt, ok ? "" : "the buyer cannot be reached for the inputs"});
}

void Simulation::Host::act(const FetchOutputs& fetch) {
  bool ok = reachable(fetch.from) && !strikes(FaultPoint::fetching_fails);
  later(ok ? kTransferTime : kTransferTimeout,
        OutputsFetched{fetch.attempt, ok ? "" : "the seller cannot be reached for the outputs"});
}

void Simulation::Host::act(const Launch& launch) {
  Mood mood;
  mood.fails = strikes(FaultPoint::launch_fails);
  mood.hangs = launch.work.time_limit > Duration{} && strikes(FaultPoint::process_hangs);
  mood.deaf = strikes(FaultPoint::process_is_deaf);
  const SimProcess* process =
      processes_.launch(launch, mood, life_, {now().mono + kSpawnTime, now().wall + kSpawnTime});
  if (process == nullptr) {
    TaskEnd lost;
    lost.kind = EndKind::lost;
    lost.message = "the lease is not open";
    return later(kSpawnTime, ProcessEnded{launch.lease, launch.attempt, std::move(lost)});
  }
  if (process->end) return later(kSpawnTime, ProcessEnded{launch.lease, launch.attempt, *process->end});
  later(kSpawnTime, ProcessStarted{launch.lease, launch.attempt, process->started_wall});
  expect_end(*process);
  if (!strikes(FaultPoint::shim_dies)) return;
  simulation_.schedule((process->ends_at() - simulation_.now_) / 2, ShimDies{index_, launch.lease});
}

void Simulation::Host::expect_end(const SimProcess& process) {
  Duration after = process.ends_at() > simulation_.now_ ? process.ends_at() - simulation_.now_ : Duration{};
  simulation_.schedule(after, ProcessDue{index_, process.launch.lease, process.launch.attempt, process.generation});
}

void Simulation::Host::process_due(const ProcessDue& due) {
  const SimProcess* process = processes_.finish(due.lease, due.attempt, due.generation, now().wall);
  bool told = process != nullptr && up() && (adopted_ || process->agent_life == life_);
  if (told) later(kReapTime, ProcessEnded{due.lease, due.attempt, *process->end});
}

void Simulation::Host::act(const InterruptProcess& interrupt) {
  const SimProcess* process =
      processes_.interrupt(interrupt.lease, interrupt.attempt, interrupt.grace, simulation_.now_);
  if (process != nullptr) expect_end(*process);
}

void Simulation::Host::shim_dies(const LeaseId& lease) {
  auto opened = processes_.leases().find(lease);
  bool told = opened != processes_.leases().end() && up() && (adopted_ || opened->second.agent_life == life_);
  if (processes_.shim_died(lease) && told) later(kReapTime, LeaseProcessLost{lease, "killed by a fault"});
}

}  // namespace abacus::sim
