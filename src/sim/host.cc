// What each effect does to a simulated machine, and how long that takes.
#include "sim/host.h"

#include <utility>

#include "protocol/codec.h"

namespace abacus::sim {
namespace {

constexpr Duration kSignTime = microseconds(60);
constexpr Duration kCheckTime = microseconds(100);
constexpr Duration kSpawnTime = microseconds(600);
constexpr Duration kReapTime = microseconds(300);
constexpr Duration kTransferTime = milliseconds(2);
constexpr Duration kTransferTimeout = seconds(10);
constexpr Duration kWriteBackEvery = seconds(3);

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

void Simulation::Host::start() {
  ++life_;
  driver_ = std::make_unique<Driver>(config_, *this, recorder_);
  Status started = driver_->start(simulation_.now());
  CHECK_MSG(started.has_value(), started ? "" : started.error().message);
  pump();
}

void Simulation::Host::crash(bool power_loss) {
  driver_.reset();
  wake_scheduled_.reset();
  disk_.crash();
  if (power_loss) processes_.power_loss();
}

void Simulation::Host::post(Event event) {
  for (Checker* checker : simulation_.checkers_) checker->on_event(simulation_, index_, event);
  driver_->post(std::move(event));
}

void Simulation::Host::committed() {
  if (!simulation_.sabotaged(Sabotage::late_disk)) {
    disk_.finish();
  } else if (simulation_.now_ - written_back_at_ >= kWriteBackEvery) {
    written_back_at_ = simulation_.now_;
    disk_.finish();
  }
  Status restarted = driver_->committed(Status{}, simulation_.now());
  CHECK(restarted.has_value());
  pump();
}

void Simulation::Host::pump() {
  while (driver_->run(simulation_.now())) {
  }
  std::optional<MonoTime> wake = driver_->next_wake();
  if (!wake || (wake_scheduled_ && *wake_scheduled_ <= *wake)) return;
  wake_scheduled_ = *wake;
  Duration after = *wake > simulation_.now_ ? *wake - simulation_.now_ : Duration{};
  simulation_.schedule(after, Wake{index_, life_});
}

void Simulation::Host::wake_due() {
  if (wake_scheduled_ != simulation_.now_) return;
  wake_scheduled_.reset();
  pump();
}

void Simulation::Host::award_twice(const Effect& effect) {
  const auto* send = std::get_if<Send>(&effect);
  const auto* award = send == nullptr ? nullptr : std::get_if<Award>(&send->message);
  if (award == nullptr) return;
  Award twin = *award;
  twin.lease.bytes[0] ^= 0xff;
  Effect again = Send{send->to, send->trace, std::move(twin)};
  for (Checker* checker : simulation_.checkers_) checker->on_effect(simulation_, index_, again);
  act(std::get<Send>(again));
}

void Simulation::Host::carry_out(Effect effect) {
  if (simulation_.sabotaged(Sabotage::twin_awards)) award_twice(effect);
  for (Checker* checker : simulation_.checkers_) checker->on_effect(simulation_, index_, effect);
  std::visit([&](const auto& e) { act(e); }, effect);
}

void Simulation::Host::commit(std::vector<JournalChange> changes) {
  if (simulation_.sabotaged(Sabotage::drop_jobs)) {
    std::erase_if(changes, [](const JournalChange& change) {
      return change.kind == kRecordKind<JobRecord> || change.kind == kRecordKind<TaskRecord>;
    });
  }
  disk_.begin(std::move(changes));
  simulation_.schedule(simulation_.config_.commit_latency, Committed{index_, life_});
}

void Simulation::Host::later(Duration after, Event event) {
  simulation_.schedule(after, Post{index_, life_, std::make_shared<const Event>(std::move(event))});
}

void Simulation::Host::act(const SignOffer& sign) {
  Bytes payload = encode(sign.offer);
  Signature tag = tag_of(config_.self.node, payload);
  auto offer = make_signed_offer(std::move(payload), tag);
  CHECK_MSG(offer.has_value(), offer ? "" : offer.error().message);
  later(kSignTime, OfferSigned{*offer});
}

void Simulation::Host::act(const CheckOffers& check) {
  OffersChecked checked;
  for (const OfferRef& offer : check.offers) {
    if (tag_of(offer->offer.contact.node, offer->payload) == offer->signature) checked.offers.push_back(offer);
  }
  later(kCheckTime, std::move(checked));
}

bool Simulation::Host::reachable(const Contact& other) const {
  std::optional<NodeIndex> to = simulation_.index_of(other.node);
  return to && simulation_.node(*to) != nullptr && !simulation_.network_.separated(index_, *to);
}

void Simulation::Host::act(const StageInputs& stage) {
  bool ok = reachable(stage.from);
  later(ok ? kTransferTime : kTransferTimeout,
        InputsStaged{stage.lease, stage.attempt, ok ? "" : "the buyer cannot be reached for the inputs"});
}

void Simulation::Host::act(const FetchOutputs& fetch) {
  bool ok = reachable(fetch.from);
  later(ok ? kTransferTime : kTransferTimeout,
        OutputsFetched{fetch.attempt, ok ? "" : "the seller cannot be reached for the outputs"});
}

void Simulation::Host::act(const Launch& launch) {
  const SimProcess* process = processes_.launch(launch, simulation_.now());
  if (process == nullptr) return;
  later(kSpawnTime, ProcessStarted{launch.lease, launch.attempt, process->started_at});
  simulation_.schedule(process->ends_at - simulation_.now_ + kSpawnTime,
                       ProcessDue{index_, launch.lease, launch.attempt, process->generation});
}

void Simulation::Host::process_due(const ProcessDue& due) {
  const SimProcess* process = processes_.finish(due.lease, due.attempt, due.generation, simulation_.now().wall);
  if (process != nullptr && up()) later(kReapTime, ProcessEnded{due.lease, due.attempt, *process->end});
}

void Simulation::Host::act(const InterruptProcess& interrupt) {
  const SimProcess* process = processes_.interrupt(interrupt.lease, interrupt.attempt, simulation_.now().wall);
  if (process != nullptr) later(kReapTime, ProcessEnded{interrupt.lease, interrupt.attempt, *process->end});
}

}  // namespace abacus::sim
