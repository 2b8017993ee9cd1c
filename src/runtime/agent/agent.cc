// Puts the parts of a running agent together, feeds its inhabitant, and takes the parts down again.
#include "runtime/agent/agent.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <fstream>
#include <map>

#include "core/driver/driver.h"
#include "protocol/codec.h"
#include "runtime/agent/contacts_file.h"
#include "runtime/agent/housekeeping.h"
#include "runtime/agent/loop_pump.h"
#include "runtime/agent/metrics.h"
#include "runtime/agent/pin_owners.h"
#include "runtime/agent/real_world.h"
#include "runtime/data/run_on.h"
#include "runtime/data/unpack.h"
#include "runtime/exec/process_executor.h"
#include "runtime/net/bulk.h"

namespace abacus {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr std::size_t kPoolThreads = 2;
constexpr auto kHousekeepingEvery = std::chrono::seconds(30);
constexpr std::size_t kContactsKept = 16;
constexpr Duration kBulkTimeout = seconds(30);
constexpr Duration kCommandPatience = seconds(30);

std::chrono::nanoseconds chrono_of(Duration duration) { return std::chrono::nanoseconds(duration.ns); }

std::uint64_t entropy() {
  std::uint64_t seed = 0;
  fill_random({reinterpret_cast<std::uint8_t*>(&seed), sizeof seed});
  return seed;
}

/// A stretch of a local file. A file that is not there (yet) is empty.
Bytes read_stretch(const fs::path& path, std::uint64_t offset, std::uint32_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(bytes_max);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes.data()), bytes_max);
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

}  // namespace

/// In the order of construction; destroyed in reverse, after the loop's handlers can no longer run.
struct Agent::Parts {
  Parts(asio::io_context& context, AgentOptions given, NodeIdentity who)
      : io(context), options(std::move(given)), identity(std::move(who)), pool(kPoolThreads), house_timer(io) {}
  ~Parts();

  Status check_endpoint() const;
  Status open_stores();
  std::unique_ptr<Executor> make_process_executor(ExecSink sink);
  Status open_transport();
  Status start_inhabitant();
  void on_frames(const PeerIdentity& peer, std::vector<Bytes> frames);
  void on_committed(const Status& status);
  void answer_all(const Error& error);
  Result<Digest> pack_inputs(const std::string& owner, const std::vector<PackSource>& inputs);
  void keep_house();
  void remember_contacts();
  void clear_away();
  AgentPorts ports();
  asio::awaitable<Result<LogPart>> remote_log(const TaskView& task, ReadLog request);

  asio::io_context& io;
  AgentOptions options;
  NodeIdentity identity;
  std::unique_ptr<GroupCommitter> journal;
  std::unique_ptr<ContentStore> store;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Runs> runs;
  std::unique_ptr<Results> results;
  std::unique_ptr<RealWorld> world;
  std::unique_ptr<BulkService> bulk_service;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<BulkClient> bulk_client;
  std::unique_ptr<Inhabitant> inhabitant;
  std::unique_ptr<LoopPump> pump;
  asio::thread_pool pool;
  asio::steady_timer house_timer;
  std::size_t submissions_under_way = 0;
  std::uint64_t next_submission = 1;
  RequestId next_request = 1;
  std::optional<Error> trouble;  ///< Of the last commit, if it failed.
  std::map<RequestId, std::function<void(CommandAnswer)>> waiting;
  std::multimap<JobId, std::shared_ptr<asio::steady_timer>> watchers;
};

Agent::Parts::~Parts() {
  if (pump) pump->stop();
  pool.join();
}

AgentPorts Agent::Parts::ports() {
  AgentPorts ports;
  ports.loop = io.get_executor();
  ports.pool = pool.get_executor();
  // In a turn of its own: nothing is posted from within what the inhabitant asks for.
  ports.post = [this](Event event) {
    asio::post(io, [this, event = std::move(event)]() mutable { pump->post(std::move(event)); });
  };
  ports.bulk_to = [this](const Contact& to) -> BulkRequestFn {
    return [this, to](Bytes request) -> asio::awaitable<Result<Bytes>> {
      Endpoint at = to.endpoint;
      if (OfferRef offer = inhabitant->node()->overlay().find(to.node); offer && !at.known())
        at = offer->offer.contact.endpoint;
      return bulk_client->request(to.node, at, std::move(request), kBulkTimeout);
    };
  };
  ports.log = options.log;
  ports.self = identity.node_id();
  return ports;
}

Status Agent::Parts::open_stores() {
  TRY(Journal opened, Journal::open(options.data_dir));
  journal = std::make_unique<GroupCommitter>(std::move(opened));
  TRY(store, ContentStore::open(options.data_dir / "store", options.store_cap_bytes));
  ExecSink sink = [this](ExecEvent event) { runs->on(event); };
  if (!options.make_executor) TRY_STATUS(check_shim_program(default_shim_program()));
  executor = options.make_executor ? options.make_executor(io.get_executor(), options.data_dir, std::move(sink))
                                   : make_process_executor(std::move(sink));
  runs = std::make_unique<Runs>(ports(), options.region, options.limits, *store, *executor);
  results = std::make_unique<Results>(ports(), options.data_dir, *store);
  return {};
}

std::unique_ptr<Executor> Agent::Parts::make_process_executor(ExecSink sink) {
  ProcessExecutorOptions exec;
  exec.root = fs::absolute(options.data_dir / "leases").string();
  exec.shim_program = default_shim_program();
  if (options.limits) exec.isolation = probe_isolation();
  return std::make_unique<ProcessExecutor>(io.get_executor(), std::move(exec), std::move(sink));
}

/// Others must be able to reach what the node's offer says.
Status Agent::Parts::check_endpoint() const {
  Endpoint endpoint = options.advertise.value_or(options.listen);
  std::array<std::uint8_t, 16> v6_any{}, v4_any{};
  v4_any[10] = v4_any[11] = 0xff;
  if (endpoint.address != v6_any && endpoint.address != v4_any) return {};
  return fail(ErrorCode::invalid,
              "nobody can reach {}: say with --advertise ADDRESS:PORT where peers find this machine",
              endpoint.to_string());
}

Status Agent::Parts::open_transport() {
  TransportOptions net;
  net.listen = options.listen;
  net.log = options.log;
  TransportHandlers handlers;
  handlers.on_frames = [this](const PeerIdentity& peer, std::vector<Bytes> frames) {
    on_frames(peer, std::move(frames));
  };
  handlers.on_lost = [this](const NodeId& peer, const Error& error) { pump->post(PeerLost{peer, error.message}); };
  TRY(transport, Transport::start(io, identity, std::move(net), std::move(handlers)));
  bulk_service = std::make_unique<BulkService>(
      *store, BulkService::Hooks{[](const NodeId&, const Digest&) { return true; },
                                 [this](const NodeId& peer, const AttemptId& attempt, LogStream stream) {
                                   return runs->find_log(peer, attempt, stream);
                                 }});
  serve_bulk(*transport, [this](PeerIdentity peer, Bytes request) -> asio::awaitable<Bytes> {
    co_return co_await run_on(pool.get_executor(), [&] { return bulk_service->handle(peer.node, request); });
  });
  bulk_client = std::make_unique<BulkClient>(*transport);
  return {};
}

Status Agent::Parts::start_inhabitant() {
  RealWorld::Parts parts(identity.key);
  parts.journal = journal.get();
  parts.runs = runs.get();
  parts.results = results.get();
  parts.on_committed = [this](const Status& status) { on_committed(status); };
  parts.on_answer = [this](Answer answer) {
    if (auto waiter = waiting.extract(answer.request)) waiter.mapped()(std::move(answer.answer));
  };
  parts.on_change = [this](const JobId& job) {
    auto [first, last] = watchers.equal_range(job);
    for (auto it = first; it != last; ++it) it->second->cancel();
    watchers.erase(first, last);
  };
  parts.endpoint_of = [this](const NodeId& node) {
    OfferRef offer = inhabitant->node() == nullptr ? nullptr : inhabitant->node()->overlay().find(node);
    return offer ? offer->offer.contact.endpoint : Endpoint{};
  };
  world = std::make_unique<RealWorld>(ports(), std::move(parts));
  world->connect(transport.get());

  NodeConfig config;
  config.self = {identity.node_id(), options.advertise.value_or(transport->local_endpoint())};
  config.organisation = identity.org_id();
  config.region = options.region;
  config.capacity = options.capacity;
  config.seed = entropy();
  config.overlay = options.overlay;
  config.pricing = options.pricing;
  config.selling = options.selling;
  config.buying = options.buying;
  inhabitant = options.make_inhabitant ? options.make_inhabitant(std::move(config), *world, options.recorder)
                                       : std::make_unique<Driver>(std::move(config), *world, options.recorder);
  pump = std::make_unique<LoopPump>(io, *inhabitant);
  TRY(std::vector<Contact> contacts, load_contacts(options.data_dir));
  contacts.insert(contacts.end(), options.contacts.begin(), options.contacts.end());
  TRY_STATUS(inhabitant->start(read_clocks()));
  pump->post(ContactsGiven{std::move(contacts)});
  TRY_STATUS(drop_stale_pins(*store, runs->in_journal()));
  keep_house();
  return {};
}

void Agent::Parts::on_frames(const PeerIdentity& peer, std::vector<Bytes> frames) {
  for (const Bytes& frame : frames) {
    auto envelope = decode_envelope(frame);
    if (!envelope) {
      options.log->warn("message from {} ignored: {}", peer.node.short_string(), envelope.error().message);
      continue;
    }
    inhabitant->post(MessageReceived{{peer.node, {}}, peer.org, envelope->trace, std::move(envelope->message)});
  }
  pump->nudge();
}

/// Whoever waits for an answer was promised nothing, and is told at once.
void Agent::Parts::answer_all(const Error& error) {
  for (auto& [request, waiter] : std::exchange(waiting, {})) waiter(error);
}

void Agent::Parts::on_committed(const Status& status) {
  if (!status) {
    options.log->error("the journal could not be written, going back to what is durable: {}", status.error().message);
    trouble = status.error().in("the agent cannot write its journal, and takes nothing on");
    answer_all(*trouble);
  } else {
    trouble.reset();
  }
  Status outcome = inhabitant->committed(status, read_clocks());
  if (outcome) return pump->nudge();
  options.log->critical("the journal cannot be read: {}", outcome.error().message);
  pump->stop();
  if (options.on_fatal) options.on_fatal(outcome.error());
}

/// Packs under the submission's name, then pins under the tree's: jobs with the same inputs share them.
Result<Digest> Agent::Parts::pack_inputs(const std::string& owner, const std::vector<PackSource>& inputs) {
  auto packed = pack(*store, owner, inputs);
  if (packed) {
    if (Status pinned = pin_tree(*store, input_owner(*packed), *packed); !pinned) packed = fail(pinned.error());
  }
  TRY_STATUS(store->unpin(owner));
  return packed;
}

void Agent::Parts::keep_house() {
  house_timer.expires_after(kHousekeepingEvery);
  house_timer.async_wait([this](const boost::system::error_code& error) {
    if (error || inhabitant->node() == nullptr) return;
    remember_contacts();
    clear_away();
    keep_house();
  });
}

void Agent::Parts::remember_contacts() {
  std::vector<Contact> contacts;
  for (const OfferRef& offer : inhabitant->node()->overlay().offers(read_clocks().wall)) {
    if (offer->offer.contact.node != identity.node_id()) contacts.push_back(offer->offer.contact);
    if (contacts.size() == kContactsKept) break;
  }
  Status saved = contacts.empty() ? Status{} : save_contacts(options.data_dir, contacts);
  if (!saved) options.log->warn("{}", saved.error().message);
}

void Agent::Parts::clear_away() {
  const Buying& buying = inhabitant->node()->buying();
  if (submissions_under_way == 0) {
    Status dropped = drop_unused_inputs(*store, buying.inputs_in_use());
    if (!dropped) options.log->warn("{}", dropped.error().message);
  }
  auto known = [&, now = read_clocks()](const JobId& job) { return buying.job(job, now).has_value(); };
  for (fs::path& folder : forgotten_jobs(results->jobs_dir(), known)) {
    asio::post(pool, [folder = std::move(folder)] {
      std::error_code error;
      fs::remove_all(folder, error);
    });
  }
}

Agent::Agent(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::start(asio::io_context& io, AgentOptions options) {
  TRY(NodeIdentity identity, load_identity(options.data_dir, read_clocks().wall));
  if (options.region.empty()) options.region = identity.attributes().region.value;
  auto parts = std::make_unique<Parts>(io, std::move(options), std::move(identity));
  TRY_STATUS(parts->check_endpoint());
  TRY_STATUS(parts->open_stores());
  TRY_STATUS(parts->open_transport());
  TRY_STATUS(parts->start_inhabitant());
  return std::unique_ptr<Agent>(new Agent(std::move(parts)));
}

asio::awaitable<void> Agent::leave() {
  parts_->pump->post(Leaving{});
  asio::steady_timer timer(parts_->io, std::chrono::milliseconds(200));
  co_await timer.async_wait(asio::use_awaitable);
  parts_->pump->stop();
}

void Agent::end_all_work() {
  for (const SoldLeaseView& lease : node().selling().view(read_clocks()).leases) {
    parts_->runs->act(CloseLease{lease.lease});
  }
}

template <class Answered>
asio::awaitable<Result<Answered>> Agent::command(std::function<Event(RequestId)> make, Duration patience) {
  if (parts_->inhabitant->pausing()) co_return fail(*parts_->trouble);
  RequestId request = parts_->next_request++;
  asio::steady_timer timer(parts_->io, chrono_of(patience));
  std::optional<CommandAnswer> answer;
  parts_->waiting[request] = [&](CommandAnswer given) {
    answer = std::move(given);
    timer.cancel();
  };
  parts_->pump->post(make(request));
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  parts_->waiting.erase(request);
  if (!answer) co_return fail(ErrorCode::timed_out, "no answer from the agent's core within {}", to_string(patience));
  if (auto* error = std::get_if<Error>(&*answer)) co_return fail(std::move(*error));
  if (auto* answered = std::get_if<Answered>(&*answer)) co_return std::move(*answered);
  co_return fail(ErrorCode::internal, "an answer of the wrong kind");
}

asio::awaitable<Result<JobSubmitted>> Agent::submit(JobSpec spec, std::vector<PackSource> inputs) {
  ++parts_->submissions_under_way;
  if (!inputs.empty()) {
    std::string owner = submission_owner(parts_->next_submission++);
    auto packed = co_await run_on(parts_->pool.get_executor(), [&] { return parts_->pack_inputs(owner, inputs); });
    if (!packed) {
      --parts_->submissions_under_way;
      co_return fail(packed.error().in("inputs"));
    }
    spec.work.input = *packed;
  }
  // Named, because g++ 12 destroys temporaries of a co_await expression twice.
  std::function<Event(RequestId)> make = [&](RequestId request) { return SubmitJob{request, std::move(spec)}; };
  auto submitted = co_await command<JobSubmitted>(make, kCommandPatience);
  --parts_->submissions_under_way;
  co_return submitted;
}

asio::awaitable<Result<JobCancelled>> Agent::cancel(JobId job, std::optional<std::uint32_t> index) {
  return command<JobCancelled>([=](RequestId request) { return CancelJob{request, job, index}; }, kCommandPatience);
}

asio::awaitable<Result<PlanResult>> Agent::plan(JobSpec spec) {
  return command<PlanResult>(
      [spec = std::move(spec)](RequestId request) {
        return PlanJob{request, spec};
      },
      kCommandPatience);
}

asio::awaitable<Result<Drained>> Agent::drain(bool on) {
  return command<Drained>([=](RequestId request) { return Drain{request, on}; }, kCommandPatience);
}

asio::awaitable<Result<LogPart>> Agent::Parts::remote_log(const TaskView& task, ReadLog request) {
  if (task.seller == identity.node_id()) {
    auto file = runs->find_log(identity.node_id(), request.attempt, request.stream);
    if (!file) co_return fail(file.error());
    LogPart part;
    part.bytes = read_stretch(file->path, request.offset, request.bytes_max);
    co_return part;
  }
  OfferRef offer = inhabitant->node()->overlay().find(task.seller);
  Contact seller{task.seller, offer ? offer->offer.contact.endpoint : Endpoint{}};
  co_return co_await abacus::read_log(ports().bulk_to(seller), std::move(request), BulkRetry{1});
}

asio::awaitable<Result<Agent::LogPiece>> Agent::read_log(TaskId task, LogStream stream, std::uint64_t offset,
                                                         std::uint32_t bytes_max) {
  auto view = node().buying().task(task);
  if (!view) co_return fail(view.error());
  LogPiece piece;
  piece.next_offset = offset;
  if (view->phase == TaskPhase::ended) {
    piece.bytes = read_stretch(parts_->results->log_file(task, stream), offset, bytes_max);
    piece.end = piece.bytes.size() < bytes_max;
  } else if (view->phase == TaskPhase::running || view->phase == TaskPhase::fetching) {
    auto part = co_await parts_->remote_log(*view, {{task, view->attempt}, stream, offset, bytes_max});
    // Between two states of the task the seller may not know the attempt; the next read will tell.
    if (!part && part.error().code != ErrorCode::not_found) co_return fail(part.error());
    if (part) piece.bytes = std::move(part->bytes);
  }
  piece.next_offset += piece.bytes.size();
  co_return piece;
}

asio::awaitable<void> Agent::wait_change(JobId job, Duration timeout) {
  auto timer = std::make_shared<asio::steady_timer>(parts_->io, chrono_of(timeout));
  auto place = parts_->watchers.emplace(job, timer);
  boost::system::error_code error;
  co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, error));
  if (!error) parts_->watchers.erase(place);  // Timed out; a change has removed it already.
}

const Node& Agent::node() const { return *parts_->inhabitant->node(); }
std::vector<PeerView> Agent::peers() const {
  std::vector<PeerView> peers = node().overlay().view(read_clocks());
  for (PeerView& peer : peers) peer.last_price = node().buying().last_price(peer.node);
  return peers;
}
const NodeIdentity& Agent::identity() const { return parts_->identity; }
Endpoint Agent::endpoint() const { return parts_->options.advertise.value_or(parts_->transport->local_endpoint()); }
const TransportStats& Agent::transport_stats() const { return parts_->transport->stats(); }
std::string Agent::isolation() const { return parts_->executor->isolation().to_string(); }
std::string Agent::metrics() const { return metrics_text(node(), parts_->transport->stats(), read_clocks()); }
Transport& Agent::transport() { return *parts_->transport; }

}  // namespace abacus
