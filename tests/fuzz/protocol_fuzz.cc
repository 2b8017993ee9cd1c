// Two nodes that trade, and a fuzzer that carries their messages in any order, spoils and forges them, moves time,
// fails commits, kills agents and reports what no executor would. Whatever is said, no node may crash, promise more
// than it has, forget what it made durable, or run for ever.
#include <algorithm>
#include <array>
#include <set>

#include "core/recording/effects_digest.h"
#include "host.h"

namespace {

using namespace abacus;
using fuzz::Draw;
using fuzz::Host;

NodeConfig config_of(std::uint8_t number) {
  NodeConfig config;
  config.self = {{{number}}, {{number}, 7}};
  config.organisation.bytes[0] = 1;
  config.region = number == 1 ? "here" : "there";
  config.capacity = {4'000, 8ull << 30, 8ull << 30, {{"gpu", "a", 2, 1 << 30, true}}};
  config.seed = number;
  return config;
}

std::uint64_t device_count(const Capacity& capacity) {
  std::uint64_t count = 0;
  for (const DeviceStock& stock : capacity.devices) count += stock.count;
  return count;
}

class Market {
 public:
  explicit Market(fuzz::Input input) : in_(input) {
    heard_.learn(config_of(3).self);
    for (Host& host : hosts_) {
      host.start(now(host));
      host.hear(ContactsGiven{{config_of(1).self, config_of(2).self}});
      host.run(now(host));
    }
  }

  void play() {
    constexpr int kStepsMax = 300;
    for (int i = 0; i < kStepsMax && !in_.empty(); ++i) {
      step(in_.below(16));
      for (Host& host : hosts_) {
        host.run(now(host));
        check_leases(host);
      }
    }
  }

 private:
  Now now(const Host& host) const { return {mono_, WallTime{kEpochNs + mono_.ns} + host.clock_offset}; }
  Host& some_host() { return hosts_[in_.below(2)]; }
  Draw draw(const Host& host) { return Draw(in_, heard_, now(host)); }

  void step(std::size_t kind) {
    switch (kind) {
      case 0: return carry(false, false);
      case 1: return carry(true, false);
      case 2: return carry(true, true);
      case 3: return forge();
      case 4: return pass_time();
      case 5: return end_commit(some_host(), in_.below(4) != 3);
      case 6: return executor_works(some_host());
      case 7: return executor_errs(some_host());
      case 8: return submit(some_host());
      case 9: return command(some_host());
      case 10: return restart(some_host());
      case 11: return step_clock(some_host());
      default: return honest_round();
    }
  }

  /// One of the messages under way, there or again, as it is or spoiled.
  void carry(bool stays, bool spoiled) {
    Host& from = some_host();
    if (from.sent.empty()) return;
    const std::size_t which = in_.below(from.sent.size());
    Send send = from.sent[which];
    if (!stays) from.sent.erase(from.sent.begin() + static_cast<std::ptrdiff_t>(which));
    if (spoiled) draw(from).spoil(send.message);
    deliver(from.config().self, send.to.node, send.message);
  }

  /// Only what the codec lets pass reaches a node.
  void deliver(const Contact& from, const NodeId& to, const Message& message) {
    auto host = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& h) { return h.config().self.node == to; });
    auto envelope = decode_envelope(encode_envelope({message, {}}));
    if (host == hosts_.end() || !envelope) return;
    heard_.learn(envelope->message);
    host->hear(MessageReceived{from, config_of(1).organisation, envelope->trace, std::move(envelope->message)});
  }

  void forge() {
    const Contact from = config_of(static_cast<std::uint8_t>(1 + in_.below(3))).self;
    Host& to = some_host();
    if (from == to.config().self) return;  // Nobody can pass for the node itself.
    Message message;
    draw(to).fill(message);
    deliver(from, to.config().self.node, message);
  }

  void pass_time() {
    constexpr std::array kSteps = {microseconds(1), milliseconds(1), milliseconds(50), seconds(1), seconds(5),
                                   seconds(30),     minutes(2),      minutes(20),      hours(2),   hours(24 * 8)};
    mono_ = mono_ + kSteps[in_.below(kSteps.size())];
  }

  void end_commit(Host& host, bool good) {
    if (!host.commit_is_out()) return;
    host.end_commit(good ? Status{} : fail(ErrorCode::exhausted, "the disk is full"), now(host));
  }

  void executor_works(Host& host) {
    if (!host.staging.empty()) {
      const StageInputs staged = host.staging.back();
      host.staging.pop_back();
      host.hear(InputsStaged{staged.lease, staged.attempt, in_.below(4) == 3 ? "no such digest" : ""});
    }
    if (!host.fetching.empty()) {
      host.hear(OutputsFetched{host.fetching.back().attempt, in_.below(4) == 3 ? "gone" : ""});
      host.fetching.pop_back();
    }
    for (auto& [id, lease] : host.leases) {
      for (auto& [attempt, process] : lease.processes) process_works(host, id, attempt, process);
    }
  }

  void process_works(Host& host, const LeaseId& lease, const AttemptId& attempt, Host::Process& process) {
    const std::size_t what = in_.below(4);
    if (what == 1) host.hear(ProcessStarted{lease, attempt, now(host).wall});
    if (what < 2 || process.end) return;
    process.end.emplace();
    process.end->started_at = process.end->ended_at = now(host).wall;
    if (what == 3) spoil(host, *process.end);
    host.hear(ProcessEnded{lease, attempt, *process.end});
  }

  /// What a shim writes down passes the same codec.
  void spoil(const Host& host, TaskEnd& end) {
    TaskEnd spoiled = end;
    draw(host).fill(spoiled);
    if (auto read = decode<TaskEnd>(encode(spoiled))) end = *read;
  }

  /// Reports about what the executor does not run: late, repeated, or of another life.
  void executor_errs(Host& host) {
    AttemptId attempt;
    LeaseId lease;
    Draw drawn = draw(host);
    drawn.fill(lease);
    drawn.fill(attempt);
    const auto known = host.leases.find(lease);
    if (known != host.leases.end() && known->second.processes.contains(attempt)) return;
    switch (in_.below(5)) {
      case 0: return host.hear(InputsStaged{lease, attempt, in_.below(2) == 0 ? "" : "no"});
      case 1: return host.hear(OutputsFetched{attempt, in_.below(2) == 0 ? "" : "no"});
      case 2: host.leases[lease].processes.clear(); return host.hear(LeaseProcessLost{lease, "killed"});
      case 3: return host.hear(PeerLost{config_of(static_cast<std::uint8_t>(1 + in_.below(3))).self.node, "reset"});
      default: return host.hear(Leaving{});
    }
  }

  void submit(Host& host) {
    SubmitJob job{++request_, {}};
    const std::uint8_t traits = in_.byte();
    job.spec.work.command = {"sim"};
    job.spec.is_array = (traits & 1) != 0;
    job.spec.array.last = job.spec.is_array ? 1 + traits % 7 : 0;
    job.spec.bundle.cpu_milli = (traits & 2) != 0 ? 1'000 : 2'000;
    if ((traits & 4) != 0) job.spec.bundle.devices = {{"gpu", "", 1}};
    if ((traits & 8) != 0) job.spec.work.input.bytes[0] = 1;
    if ((traits & 16) != 0) job.spec.work.outputs = {"out"};
    if ((traits & 32) != 0) job.spec.repeat = Repeat::at_most_once;
    if ((traits & 64) != 0) job.spec.expected_run = seconds(1);
    if ((traits & 128) != 0) draw(host).fill(job.spec);
    host.hear(job);
  }

  void command(Host& host) {
    Draw drawn = draw(host);
    switch (in_.below(4)) {
      case 0: {
        CancelJob cancel{++request_, {}, {}};
        drawn.fill(cancel.job);
        drawn.fill(cancel.index);
        return host.hear(cancel);
      }
      case 1: return host.hear(Drain{++request_, in_.below(2) == 0});
      case 2: {
        Capacity capacity = host.config().capacity;
        capacity.cpu_milli = static_cast<std::uint32_t>(in_.below(9)) * 1'000;
        return host.probed(capacity);
      }
      default: {
        PlanJob plan{++request_, {}};
        drawn.fill(plan.spec);
        return host.hear(plan);
      }
    }
  }

  void step_clock(Host& host) {
    constexpr std::array kOffsets = {Duration{}, seconds(2), Duration{} - seconds(2), hours(24),
                                     Duration{} - hours(24)};
    host.clock_offset = kOffsets[in_.below(kOffsets.size())];
  }

  /// Everything goes as it should for a while, so that short inputs come far.
  void honest_round() {
    for (Host& host : hosts_) {
      while (!host.sent.empty()) {
        Send send = std::move(host.sent.front());
        host.sent.pop_front();
        deliver(host.config().self, send.to.node, send.message);
      }
      end_commit(host, true);
      while (!host.staging.empty() || !host.fetching.empty()) {
        if (!host.staging.empty()) host.hear(InputsStaged{host.staging.back().lease, host.staging.back().attempt, ""});
        if (!host.fetching.empty()) host.hear(OutputsFetched{host.fetching.back().attempt, ""});
        if (!host.staging.empty()) host.staging.pop_back();
        if (!host.fetching.empty()) host.fetching.pop_back();
      }
    }
    mono_ = mono_ + milliseconds(20);
  }

  void restart(Host& host) {
    if (!host.pausing() && !host.commit_is_out()) check_memory(host);
    check_that_restoring_is_deterministic(host);
    host.start(now(host));
  }

  /// What a node sells beyond what it has ever had, it sells twice.
  void check_leases(const Host& host) {
    std::uint64_t cpu_milli = 0, memory_bytes = 0, devices = 0;
    for (const SoldLeaseView& lease : host.node().selling().view(now(host)).leases) {
      if (lease.closed) continue;
      cpu_milli += std::uint64_t{lease.bundle.cpu_milli} * lease.slots;
      memory_bytes += lease.bundle.memory_bytes * lease.slots;
      for (const DeviceNeed& need : lease.bundle.devices) devices += std::uint64_t{need.count} * lease.slots;
    }
    CHECK_MSG(cpu_milli <= host.most().cpu_milli && memory_bytes <= host.most().memory_bytes, "leased beyond capacity");
    CHECK_MSG(devices <= device_count(host.most()), "a device leased twice");
  }

  /// With all its commits done, a node that comes back knows what it knew.
  void check_memory(Host& host) {
    Node back(host.config(), host.load().value());
    Effects effects;
    back.start(now(host), effects);
    const Now at = now(host);
    for (const JobView& job : host.node().buying().jobs(at, 1'000)) {
      auto again = back.buying().job(job.job, at);
      CHECK_MSG(again.has_value(), "a job is forgotten");
      CHECK_MSG(again->succeeded == job.succeeded && again->failed >= job.failed && again->tasks == job.tasks,
                "ends of tasks are forgotten");
      CHECK_MSG(again->spent == job.spent && again->cancelled == job.cancelled, "money or a cancellation is forgotten");
    }
    CHECK_MSG(names(back.selling().view(at).leases) == names(host.node().selling().view(at).leases),
              "sold leases are forgotten");
  }
  static std::set<LeaseId> names(const std::vector<SoldLeaseView>& leases) {
    std::set<LeaseId> names;
    for (const SoldLeaseView& lease : leases) names.insert(lease.lease);
    return names;
  }

  void check_that_restoring_is_deterministic(Host& host) {
    std::array<EffectsDigest, 2> digests;
    for (EffectsDigest& digest : digests) {
      Node node(host.config(), host.load().value());
      Effects effects;
      node.start(now(host), effects);
      digest.add(effects);
    }
    CHECK(digests[0].value() == digests[1].value());
  }

  static constexpr std::int64_t kEpochNs = 1'800'000'000'000'000'000;

  fuzz::Input in_;
  fuzz::Heard heard_;
  MonoTime mono_{1'000'000'000};
  RequestId request_ = 0;
  std::array<Host, 2> hosts_{Host(config_of(1), heard_), Host(config_of(2), heard_)};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Market(fuzz::Input(data, size)).play();
  return 0;
}
