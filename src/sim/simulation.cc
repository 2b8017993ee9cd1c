// The agenda's happenings, one after the other in virtual time.
#include "sim/simulation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "core/driver/driver.h"
#include "protocol/codec.h"
#include "protocol/limits.h"
#include "sim/host.h"

namespace abacus::sim {
namespace {

constexpr std::size_t kSeedContacts = 3;
constexpr Duration kRefusedAfter = milliseconds(1);

Capacity doubled(Capacity capacity) {
  capacity.cpu_milli *= 2;
  capacity.memory_bytes *= 2;
  capacity.disk_bytes *= 2;
  return capacity;
}

std::vector<std::string> regions_of(const Plan& plan) {
  std::vector<std::string> regions;
  for (const NodeSetup& node : plan.nodes) regions.push_back(node.region);
  return regions;
}

std::unique_ptr<Inhabitant> make_driver(NodeConfig config, World& world, Recorder* recorder) {
  return std::make_unique<Driver>(std::move(config), world, recorder);
}

}  // namespace

void Checker::violated(const Simulation& simulation, std::string what) {
  violations_.push_back({name(), simulation.now().mono, std::move(what)});
}

void Misfortunes::add(const Misfortunes& other) {
  for (const auto& [kind, count] : other.faults) faults[kind] += count;
  for (const auto& [point, count] : other.points) points[point] += count;
  messages_lost += other.messages_lost;
  messages_repeated += other.messages_repeated;
}

// ---- making ---------------------------------------------------------------------------------------------------------

Simulation::Simulation(Plan plan, Sabotages sabotage, InhabitantFactory make_inhabitant)
    : plan_(std::move(plan)),
      sabotage_(std::move(sabotage)),
      make_inhabitant_(make_inhabitant ? std::move(make_inhabitant) : make_driver),
      prng_(plan_.seed),
      network_(plan_.network, regions_of(plan_), Prng(prng_.next())),
      points_(plan_.chances, Prng(prng_.next())) {
  Status valid = validate(plan_);
  CHECK_MSG(valid.has_value(), valid ? "" : valid.error().message);
  make_hosts();
  schedule_plan();
}

Simulation::~Simulation() = default;

void Simulation::record(NodeIndex node, Recorder& recorder) { nodes_[node]->record(recorder); }

/// Random, but for the last four bytes, which are the index.
NodeId Simulation::new_id(NodeIndex index) {
  NodeId id;
  prng_.fill(id.bytes);
  std::memcpy(id.bytes.data() + NodeId::kSize - sizeof index, &index, sizeof index);
  return id;
}

void Simulation::make_hosts() {
  OrgId organisation;
  prng_.fill(organisation.bytes);
  for (NodeIndex i = 0; i < plan_.nodes.size(); ++i) {
    const NodeSetup& setup = plan_.nodes[i];
    NodeConfig node;
    node.self.node = new_id(i);
    node.self.endpoint.address[15] = 1;
    node.self.endpoint.port = static_cast<std::uint16_t>(1 + i % 65'000);
    node.organisation = organisation;
    node.region = setup.region;
    node.capacity = sabotaged(Sabotage::oversold) ? doubled(setup.capacity) : setup.capacity;
    node.pricing = setup.pricing;
    node.seed = prng_.next();
    node.overlay = plan_.overlay;
    node.selling = plan_.selling;
    node.buying = plan_.buying;
    nodes_.push_back(std::make_unique<Host>(*this, i, std::move(node), setup.clock_offset));
  }
}

void Simulation::schedule_plan() {
  for (NodeIndex i = 0; i < plan_.nodes.size(); ++i) schedule_at(plan_.nodes[i].starts_at, StartNode{i});
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
    schedule_at(plan_.jobs[i].at, Submit{i});
    if (plan_.jobs[i].cancel_after) schedule_at(plan_.jobs[i].at + *plan_.jobs[i].cancel_after, Cancel{i});
  }
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    schedule_at(plan_.faults[i].at, FaultBegins{i});
    schedule_at(plan_.faults[i].at + plan_.faults[i].lasts, FaultEnds{i});
  }
  schedule_at(plan_.calm_at, Calm{});
  schedule_at(seconds(1), Second{});
}

// ---- running --------------------------------------------------------------------------------------------------------

void Simulation::step() {
  auto entry = agenda_.pop();
  now_ = entry.at;
  ++events_handled_;
  std::visit([&](auto& happening) { happen(happening); }, entry.value);
}

void Simulation::run_until(MonoTime until) {
  while (!agenda_.empty() && agenda_.next_at() <= until) step();
  now_ = until;
}

void Simulation::run() {
  MonoTime calm = MonoTime{} + plan_.calm_at;
  for (const PlannedJob& job : plan_.jobs) calm = std::max(calm, MonoTime{} + job.at + seconds(1));
  run_until(calm);
  while (now_ < calm + plan_.settle_within && !all_ended()) run_until(now_ + seconds(1));
  if (all_ended()) run_until(now_ + plan_.rest);
  for (Checker* checker : checkers_) checker->at_end(*this);
}

template <class Due>
Simulation::Host* Simulation::alive(const Due& due) {
  Host& host = *nodes_[due.node];
  return host.up() && host.life() == due.life ? &host : nullptr;
}

void Simulation::happen(Wake& wake) {
  if (Host* host = alive(wake)) host->wake_due();
}

void Simulation::happen(PumpDue& due) {
  if (Host* host = alive(due)) host->pump_due();
}

void Simulation::happen(AdoptionDue& due) {
  if (Host* host = alive(due)) host->adoption_due();
}

void Simulation::happen(Committed& committed) {
  if (Host* host = alive(committed)) host->committed();
}

void Simulation::happen(Post& post) {
  Host* host = alive(post);
  if (host == nullptr) return;
  host->post(*post.event);
  host->pump();
}

void Simulation::happen(ProcessDue& due) { nodes_[due.node]->process_due(due); }
void Simulation::happen(ShimDies& dies) { nodes_[dies.node]->shim_dies(dies.lease); }
void Simulation::happen(StartNode& start) { start_agent(start.node); }

void Simulation::happen(Second&) {
  for (Checker* checker : checkers_) checker->on_second(*this);
  schedule(seconds(1), Second{});
}

void Simulation::start_agent(NodeIndex node) {
  Host& host = *nodes_[node];
  if (host.up()) return;
  host.start();
  ContactsGiven given;
  for (std::size_t i = 0; i < kSeedContacts && nodes_.size() > 1; ++i) {
    const Contact& contact = nodes_[prng_.below(nodes_.size())]->config().self;
    if (contact.node != host.config().self.node) given.contacts.push_back(contact);
  }
  host.post(std::move(given));
  host.pump();
}

// ---- faults ---------------------------------------------------------------------------------------------------------

void Simulation::happen(FaultBegins& begins) {
  const Fault& fault = plan_.faults[begins.fault];
  disturbed_at_ = now_;
  ++faults_hold_;
  bool struck = is_of_links(fault.kind);
  if (struck) network_.begin(begins.fault, fault);
  for (NodeIndex node : fault.nodes) struck |= strike(fault, node);
  if (struck) ++misfortunes_.faults[fault.kind];
}

void Simulation::happen(FaultEnds& ends) {
  const Fault& fault = plan_.faults[ends.fault];
  disturbed_at_ = now_;
  --faults_hold_;
  network_.end(ends.fault);
  for (NodeIndex node : fault.nodes) undo(fault, node);
}

std::size_t Simulation::begin(Fault fault) {
  fault.at = now_ - MonoTime{};
  fault.lasts = hours(24 * 365);
  plan_.faults.push_back(std::move(fault));
  FaultBegins begins{plan_.faults.size() - 1};
  happen(begins);
  return begins.fault;
}

void Simulation::end(std::size_t fault) {
  FaultEnds ends{fault};
  happen(ends);
}

void Simulation::kill_shim(NodeIndex node, const LeaseId& lease) {
  ShimDies dies{node, lease};
  happen(dies);
}

bool Simulation::strike(const Fault& fault, NodeIndex node) {
  Host& host = *nodes_[node];
  bool power_loss = fault.kind == FaultKind::power_loss;
  if (fault.kind == FaultKind::crash || power_loss) {
    if (!host.up()) return false;
    for (Checker* checker : checkers_) checker->on_crash(*this, node, power_loss);
    host.crash(power_loss);
  }
  if (fault.kind == FaultKind::pause) host.pause();
  if (fault.kind == FaultKind::slow) host.slow_down(fault.by);
  if (fault.kind == FaultKind::clock_step) host.step_clock(fault.by);
  if (fault.kind == FaultKind::disk_full) host.fill_disk();
  if (fault.kind == FaultKind::disk_slow) host.slow_disk(fault.by);
  return true;
}

void Simulation::undo(const Fault& fault, NodeIndex node) {
  Host& host = *nodes_[node];
  if (fault.kind == FaultKind::crash || fault.kind == FaultKind::power_loss) start_agent(node);
  if (fault.kind == FaultKind::pause) host.resume();
  if (fault.kind == FaultKind::slow) host.slow_down(Duration{} - fault.by);
  if (fault.kind == FaultKind::clock_step) host.step_clock(Duration{} - fault.by);
  if (fault.kind == FaultKind::disk_full) host.empty_disk();
  if (fault.kind == FaultKind::disk_slow) host.slow_disk(Duration{} - fault.by);
}

void Simulation::happen(Calm&) {
  disturbed_at_ = now_;
  network_.calm();
  points_.calm();
}

Misfortunes Simulation::misfortunes() const {
  Misfortunes all = misfortunes_;
  all.points = points_.struck();
  return all;
}

// ---- messages -------------------------------------------------------------------------------------------------------

void Simulation::happen(Deliver& deliver) {
  Host& host = *nodes_[deliver.to];
  if (!host.up()) return;
  if (network_.cut(deliver.from, deliver.to, now_)) {
    ++misfortunes_.messages_lost;
    return;
  }
  const NodeConfig& sender = nodes_[deliver.from]->config();
  Contact from{sender.self.node, {}};  // Where it listens is not the transport's to say.
  if (deliver.bytes) {
    auto envelope = decode_envelope(*deliver.bytes);
    CHECK_MSG(envelope.has_value(), envelope ? "" : envelope.error().message);
    host.post(MessageReceived{from, sender.organisation, envelope->trace, std::move(envelope->message)});
  } else {
    host.post(MessageReceived{from, sender.organisation, deliver.envelope->trace, deliver.envelope->message});
  }
  host.pump();
}

void Simulation::transmit(NodeIndex from, const Send& send) {
  ++messages_sent_;
  auto refuse = [&](std::string reason) {
    nodes_[from]->later(kRefusedAfter, PeerLost{send.to.node, std::move(reason)});
  };
  std::optional<NodeIndex> to = index_of(send.to.node);
  if (!to) return refuse("another node answers there");
  Host& peer = *nodes_[*to];
  bool cut = network_.cut(from, *to, now_);
  if (!peer.up() && !cut) return refuse("connection refused");
  if (!nodes_[from]->can_reach(send.to, peer)) return refuse("it is not connected, and no endpoint of it is known");
  Deliver deliver{from, *to, nullptr, nullptr};
  Envelope envelope{send.message, send.trace};
  if (plan_.through_codec) {
    deliver.bytes = std::make_shared<const Bytes>(encode_envelope(envelope));
    if (deliver.bytes->size() > limits::kMessageBytes) return refuse("the message is too large");
  } else {
    deliver.envelope = std::make_shared<const Envelope>(std::move(envelope));
  }
  if (!cut && !network_.cut(*to, from, now_)) nodes_[from]->connect(peer);
  auto arrivals = network_.deliveries(from, *to, now_);
  if (arrivals.empty()) ++misfortunes_.messages_lost;
  if (arrivals.size() > 1) ++misfortunes_.messages_repeated;
  for (Duration after : arrivals) schedule(after, deliver);
}

// ---- users ----------------------------------------------------------------------------------------------------------

void Simulation::happen(Submit& submit) {
  const PlannedJob& job = plan_.jobs[submit.job];
  Host& host = *nodes_[job.node];
  if (!host.up()) return;
  RequestId request = next_request_++;
  submissions_.emplace(request, submit.job);
  host.post(SubmitJob{request, job.spec});
  host.pump();
}

void Simulation::happen(Cancel& cancel) {
  auto job = std::find_if(accepted_.begin(), accepted_.end(), [&](const auto& a) { return a.planned == cancel.job; });
  if (job == accepted_.end() || !nodes_[job->custodian]->up()) return;
  nodes_[job->custodian]->post(CancelJob{next_request_++, job->submitted.job, std::nullopt});
  nodes_[job->custodian]->pump();
}

void Simulation::answered(NodeIndex node, const Answer& answer) {
  auto submission = submissions_.find(answer.request);
  if (submission == submissions_.end()) return;
  if (const auto* submitted = std::get_if<JobSubmitted>(&answer.answer)) {
    accepted_.push_back({node, *submitted, submission->second});
  }
  submissions_.erase(submission);
}

// ---- looking --------------------------------------------------------------------------------------------------------

bool Simulation::has_ended(const AcceptedJob& job) const {
  const Node* custodian = node(job.custodian);
  if (custodian == nullptr) return false;
  auto view = custodian->buying().job(job.submitted.job, now_at(job.custodian));
  return view && view->ended;
}

bool Simulation::all_ended() const {
  return std::all_of(accepted_.begin(), accepted_.end(), [&](const AcceptedJob& job) { return has_ended(job); });
}

const Node* Simulation::node(NodeIndex index) const { return nodes_[index]->node(); }

Now Simulation::now_at(NodeIndex index) const { return nodes_[index]->now(); }

const Processes& Simulation::processes(NodeIndex index) const { return nodes_[index]->processes(); }

const Disk& Simulation::disk(NodeIndex index) const { return nodes_[index]->disk(); }

const NodeId& Simulation::id_of(NodeIndex index) const { return nodes_[index]->config().self.node; }

std::optional<NodeIndex> Simulation::index_of(const NodeId& id) const {
  NodeIndex index = 0;
  std::memcpy(&index, id.bytes.data() + NodeId::kSize - sizeof index, sizeof index);
  if (index >= nodes_.size() || id_of(index) != id) return std::nullopt;
  return index;
}

std::vector<Violation> Simulation::violations() const {
  std::vector<Violation> all;
  for (const Checker* checker : checkers_) {
    all.insert(all.end(), checker->violations().begin(), checker->violations().end());
  }
  return all;
}

std::uint64_t Simulation::state_hash() const {
  std::uint64_t hash = 0xcbf29ce484222325;
  auto mix = [&](BytesView bytes) {
    for (std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  };
  for (const auto& host : nodes_) {
    for (const auto& [kind, rows] : host->disk().rows()) {
      for (const auto& [key, value] : rows) {
        mix(key);
        mix(value);
      }
    }
    for (const auto& [lease, sold] : host->processes().leases()) mix(encode(lease));
    if (const Node* node = host->node()) mix(encode(node->counters()));
  }
  mix(encode(std::vector<std::uint64_t>{events_handled_, messages_sent_, static_cast<std::uint64_t>(now_.ns)}));
  return hash;
}

}  // namespace abacus::sim
