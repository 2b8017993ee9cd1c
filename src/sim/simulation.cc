// The agenda's happenings, one after the other in virtual time.
#include "sim/simulation.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "protocol/codec.h"
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

}  // namespace

void Checker::violated(const Simulation& simulation, std::string what) {
  violations_.push_back({name(), simulation.now().mono, std::move(what)});
}

Simulation::Simulation(SimulationConfig config)
    : config_(std::move(config)), prng_(config_.seed), network_(config_.network, Prng(prng_.next())) {
  OrgId organisation;
  prng_.fill(organisation.bytes);
  for (NodeIndex i = 0; i < config_.nodes.size(); ++i) {
    const NodeSetup& setup = config_.nodes[i];
    std::uint32_t region =
        regions_.try_emplace(setup.region, static_cast<std::uint32_t>(regions_.size())).first->second;
    NodeConfig node;
    prng_.fill(node.self.node.bytes);
    node.self.endpoint.address[15] = 1;
    node.self.endpoint.port = static_cast<std::uint16_t>(1 + i % 65'000);
    node.organisation = organisation;
    node.region = setup.region;
    node.capacity = sabotaged(Sabotage::oversold) ? doubled(setup.capacity) : setup.capacity;
    node.pricing = setup.pricing;
    node.seed = prng_.next();
    node.overlay = config_.overlay;
    node.selling = config_.selling;
    node.buying = config_.buying;
    index_.emplace(node.self.node, i);
    nodes_.push_back(std::make_unique<Host>(*this, i, std::move(node), region));
  }
}

Simulation::~Simulation() = default;

void Simulation::record(NodeIndex node, Recorder& recorder) { nodes_[node]->record(recorder); }

void Simulation::start_node(MonoTime at, NodeIndex node) { agenda_.push(at, StartNode{node}); }
void Simulation::submit(MonoTime at, NodeIndex node, JobSpec spec) {
  agenda_.push(at, Submit{node, std::make_shared<const JobSpec>(std::move(spec))});
}
void Simulation::cancel(MonoTime at, NodeIndex node, std::size_t job) { agenda_.push(at, Cancel{node, job}); }
void Simulation::crash(MonoTime at, NodeIndex node, bool power_loss) { agenda_.push(at, Crash{node, power_loss}); }
void Simulation::partition(MonoTime at, std::set<NodeIndex> side) { agenda_.push(at, Partition{std::move(side)}); }
void Simulation::heal(MonoTime at) { agenda_.push(at, Heal{}); }
void Simulation::calm(MonoTime at) { agenda_.push(at, Calm{}); }

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

bool Simulation::run_until_settled(MonoTime until) {
  constexpr int kStepsBetweenLooks = 4'096;
  while (!agenda_.empty() && agenda_.next_at() <= until) {
    for (int i = 0; i < kStepsBetweenLooks && !agenda_.empty() && agenda_.next_at() <= until; ++i) step();
    if (all_ended()) return true;
  }
  return all_ended();
}

void Simulation::finish() {
  for (Checker* checker : checkers_) checker->at_end(*this);
}

void Simulation::happen(StartNode& start) {
  Host& host = *nodes_[start.node];
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

void Simulation::happen(Crash& crash) {
  Host& host = *nodes_[crash.node];
  if (!host.up()) return;
  for (Checker* checker : checkers_) checker->on_crash(*this, crash.node, crash.power_loss);
  ++faults_.crashes;
  if (crash.power_loss) ++faults_.power_losses;
  host.crash(crash.power_loss);
}

void Simulation::happen(Partition& partition) {
  ++faults_.partitions;
  network_.partition(std::move(partition.side));
}

void Simulation::happen(Wake& wake) {
  Host& host = *nodes_[wake.node];
  if (!host.up() || host.life() != wake.life) return;
  host.wake_due();
}

void Simulation::happen(Committed& committed) {
  Host& host = *nodes_[committed.node];
  if (host.up() && host.life() == committed.life) host.committed();
}

void Simulation::happen(Post& post) {
  Host& host = *nodes_[post.node];
  if (!host.up() || host.life() != post.life) return;
  host.post(*post.event);
  host.pump();
}

void Simulation::happen(ProcessDue& due) { nodes_[due.node]->process_due(due); }

void Simulation::happen(Deliver& deliver) {
  Host& host = *nodes_[deliver.to];
  if (!host.up()) return;
  if (network_.separated(deliver.from, deliver.to)) {
    ++faults_.messages_lost;
    return;
  }
  const NodeConfig& from = nodes_[deliver.from]->config();
  if (deliver.bytes) {
    auto envelope = decode_envelope(*deliver.bytes);
    CHECK_MSG(envelope.has_value(), envelope ? "" : envelope.error().message);
    host.post(MessageReceived{from.self, from.organisation, envelope->trace, std::move(envelope->message)});
  } else {
    host.post(MessageReceived{from.self, from.organisation, deliver.envelope->trace, deliver.envelope->message});
  }
  host.pump();
}

void Simulation::transmit(NodeIndex from, const Send& send) {
  ++messages_sent_;
  std::optional<NodeIndex> to = index_of(send.to.node);
  if (!to) return;
  if (!nodes_[*to]->up() && !network_.separated(from, *to)) {
    nodes_[from]->later(kRefusedAfter, PeerLost{send.to.node, "connection refused"});
    return;
  }
  auto arrivals = network_.deliveries(from, nodes_[from]->region(), *to, nodes_[*to]->region());
  if (arrivals.empty()) ++faults_.messages_lost;
  if (arrivals.size() > 1) ++faults_.messages_repeated;
  if (arrivals.empty()) return;
  Deliver deliver{from, *to, nullptr, nullptr};
  Envelope envelope{send.message, send.trace};
  if (config_.through_codec) {
    deliver.bytes = std::make_shared<const Bytes>(encode_envelope(envelope));
  } else {
    deliver.envelope = std::make_shared<const Envelope>(std::move(envelope));
  }
  for (Duration after : arrivals) schedule(after, deliver);
}

void Simulation::happen(Submit& submit) {
  Host& host = *nodes_[submit.node];
  if (!host.up()) return;
  RequestId request = next_request_++;
  submissions_.emplace(request, *submit.spec);
  host.post(SubmitJob{request, *submit.spec});
  host.pump();
}

void Simulation::happen(Cancel& cancel) {
  Host& host = *nodes_[cancel.node];
  if (!host.up() || cancel.job >= accepted_.size()) return;
  host.post(CancelJob{next_request_++, accepted_[cancel.job].submitted.job, std::nullopt});
  host.pump();
}

void Simulation::answered(NodeIndex node, const Answer& answer) {
  auto submission = submissions_.find(answer.request);
  if (submission == submissions_.end()) return;
  if (const auto* submitted = std::get_if<JobSubmitted>(&answer.answer)) {
    accepted_.push_back({node, *submitted, std::move(submission->second)});
  }
  submissions_.erase(submission);
}

bool Simulation::all_ended() const {
  return std::all_of(accepted_.begin(), accepted_.end(), [&](const AcceptedJob& job) {
    const Node* custodian = node(job.custodian);
    if (custodian == nullptr) return false;
    auto view = custodian->buying().job(job.submitted.job, now());
    return view && view->ended;
  });
}

const Node* Simulation::node(NodeIndex index) const {
  const Driver* driver = nodes_[index]->driver();
  return driver == nullptr ? nullptr : driver->node();
}

const Processes& Simulation::processes(NodeIndex index) const { return nodes_[index]->processes(); }

const NodeId& Simulation::id_of(NodeIndex index) const { return nodes_[index]->config().self.node; }

std::optional<NodeIndex> Simulation::index_of(const NodeId& id) const {
  auto found = index_.find(id);
  if (found == index_.end()) return std::nullopt;
  return found->second;
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
    for (const auto& [name, value] : host->disk().rows()) {
      mix(name.second);
      mix(value);
    }
    for (const auto& [lease, attempts] : host->processes().leases()) mix(encode(lease));
    if (const Driver* driver = host->driver()) mix(encode(driver->node()->counters()));
  }
  mix(encode(std::vector<std::uint64_t>{events_handled_, messages_sent_, static_cast<std::uint64_t>(now_.ns)}));
  return hash;
}

}  // namespace abacus::sim
