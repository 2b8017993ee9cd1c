// The process executor: one connection a lease, commands down, news up, remains cleared away.
#include "runtime/exec/process_executor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>

#include "runtime/exec/lease_table.h"
#include "runtime/exec/record_log.h"
#include "runtime/exec/shim_process.h"

namespace abacus {
namespace {

constexpr std::size_t kPendingMaxBytes = 64u << 20;      ///< Commands one shim has not taken over yet.
constexpr int kReconnectsMax = 5;                        ///< Without a complete listing in between.
constexpr auto kAnswerLimit = std::chrono::seconds(10);  ///< For a shim to list its state, or to end.
constexpr auto kClearRetry = std::chrono::milliseconds(10);
constexpr int kClearRoundsMax = 1000;  ///< A process that resists SIGKILL is the kernel's.

wire::Launch launch_message(const LaunchSpec& spec) {
  wire::Launch order;
  order.attempt = spec.attempt;
  order.folder = attempt_folder(spec.attempt);
  order.work_dir = spec.work_dir;
  order.argv = spec.argv;
  order.env = spec.env;
  order.limits = spec.limits == Limits::cgroup;
  order.cpu_milli = spec.cpu_milli;
  order.memory_bytes = spec.memory_bytes;
  order.pids_max = spec.pids_max;
  order.output_cap_bytes = spec.output_cap_bytes;
  order.time_limit = spec.time_limit;
  order.grace = spec.grace;
  order.cpus = spec.cpus;
  return order;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

/// Shared with handlers in flight, which check `stopped_`: the executor may be destroyed at any time.
class ProcessExecutor::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(boost::asio::any_io_executor executor, ProcessExecutorOptions options, ExecSink sink)
      : executor_(std::move(executor)), options_(std::move(options)), sink_(std::move(sink)) {}

  void stop();
  /// Stops this one; another that knows nothing yet takes its place.
  std::shared_ptr<Impl> anew();
  Status open_lease(const LeaseSpec& spec);
  Status launch(const LaunchSpec& spec);
  Status interrupt(const AttemptId& attempt, Duration grace);
  Status forget(const AttemptId& attempt);
  Status close_lease(const LeaseId& lease);
  Status extend_lease(const LeaseId& lease, WallTime deadline);
  Status end_lease(const LeaseId& lease);
  void adopt(std::function<void(std::vector<FoundLease>)> done);

  std::string directory(const LeaseId& lease) const { return options_.root + "/" + lease.to_string(); }
  const IsolationReport& isolation() const { return options_.isolation; }

 private:
  /// The leases being taken over, until all have answered.
  struct Adoption {
    std::function<void(std::vector<FoundLease>)> done;
    std::map<LeaseId, FoundLease> leases;
    std::set<LeaseId> waiting;
  };

  Result<pid_t> spawn_shim(const LeaseSpec& spec);
  Status connect(const LeaseId& lease, LeaseEntry& entry);
  void emit(ExecEvent event);
  template <class F>
  void after(std::chrono::steady_clock::duration delay, F action);

  void on_message(const LeaseId& lease, const wire::Message& message);
  void on_started(const LeaseId& lease, const wire::Started& started);
  void on_ended(const LeaseId& lease, const wire::Ended& ended);
  void on_listed(const LeaseId& lease);
  void on_link_lost(const LeaseId& lease);

  void clear(const LeaseId& lease, int round);
  void on_cleared(const LeaseId& lease);
  void report_lost(const LeaseId& lease, LeaseEntry& entry);
  void report_closed(const LeaseId& lease);
  void force_end(const LeaseId& lease);

  void adopt_lease(const LeaseId& lease);
  void adopt_attempt(const LeaseId& lease, FoundAttempt attempt);
  void adoption_answered(const LeaseId& lease);

  boost::asio::any_io_executor executor_;
  ProcessExecutorOptions options_;
  ExecSink sink_;
  LeaseTable table_;
  std::unique_ptr<Adoption> adoption_;
  bool stopped_ = false;
};

void ProcessExecutor::Impl::stop() {
  stopped_ = true;
  for (auto& [lease, entry] : table_.leases) {
    if (entry.link) entry.link->close();
  }
}

std::shared_ptr<ProcessExecutor::Impl> ProcessExecutor::Impl::anew() {
  stop();
  return std::make_shared<Impl>(executor_, options_, sink_);
}

void ProcessExecutor::Impl::emit(ExecEvent event) {
  boost::asio::post(executor_, [self = shared_from_this(), event = std::move(event)]() mutable {
    if (!self->stopped_) self->sink_(std::move(event));
  });
}

template <class F>
void ProcessExecutor::Impl::after(std::chrono::steady_clock::duration delay, F action) {
  auto timer = std::make_shared<boost::asio::steady_timer>(executor_, delay);
  timer->async_wait([self = weak_from_this(), timer, action](boost::system::error_code error) {
    auto alive = self.lock();
    if (!error && alive && !alive->stopped_) action(*alive);
  });
}

// Opening

Status ProcessExecutor::Impl::open_lease(const LeaseSpec& spec) {
  std::string path = directory(spec.lease);
  if (table_.find(spec.lease) != nullptr || exists(path)) {
    return fail(ErrorCode::already_exists, "lease {} is open already (folder '{}')", spec.lease.short_string(), path);
  }
  std::error_code error;
  std::filesystem::create_directories(options_.root, error);
  if (::mkdir(path.c_str(), 0700) != 0) {
    return fail(ErrorCode::unavailable, "folder '{}' cannot be made: {}", path, std::strerror(errno));
  }
  auto pid = spawn_shim(spec);
  if (!pid) {
    std::filesystem::remove_all(path, error);
    return fail(std::move(pid).error());
  }
  reap_when_ended(executor_, *pid);
  LeaseEntry& entry = table_.leases[spec.lease];
  entry.shim_pid = static_cast<std::uint32_t>(*pid);
  entry.branches = options_.isolation.branches;
  // Its socket was made here, so it can be connected before the shim has run a single instruction.
  Status connected = connect(spec.lease, entry);
  if (connected) return {};
  kill_shim(*pid, spec.lease);
  table_.erase(spec.lease);
  std::filesystem::remove_all(path, error);
  return connected;
}

Result<pid_t> ProcessExecutor::Impl::spawn_shim(const LeaseSpec& spec) {
  std::string path = directory(spec.lease);
  TRY(int listen_fd, listen_in(path));
  const auto& branches = options_.isolation.branches;
  auto pid = start_shim(options_.shim_program, spec, path, options_.orphan_limit, branches, listen_fd);
  ::close(listen_fd);
  // Without the note a later life could not clear up after the shim's death; better to have no lease.
  if (pid && !write_shim_note(path, {*pid, branches})) {
    kill_shim(*pid, spec.lease);
    return fail(ErrorCode::unavailable, "'{}/shim' cannot be written: {}", path, std::strerror(errno));
  }
  return pid;
}

Status ProcessExecutor::Impl::connect(const LeaseId& lease, LeaseEntry& entry) {
  std::weak_ptr<Impl> weak = weak_from_this();
  ShimLink::Callbacks callbacks{[weak, lease](const wire::Message& message) {
                                  if (auto self = weak.lock()) self->on_message(lease, message);
                                },
                                [weak, lease] {
                                  if (auto self = weak.lock()) self->on_link_lost(lease);
                                }};
  entry.link = std::make_shared<ShimLink>(executor_, std::move(callbacks));
  TRY_STATUS(entry.link->connect(directory(lease)));
  // What a broken connection may have swallowed. All of it may be repeated.
  for (const auto& [id, attempt] : table_.attempts) {
    if (attempt.lease != lease || attempt.state == AttemptPhase::ended) continue;
    if (attempt.state == AttemptPhase::sent) entry.link->send_encoded(attempt.launch_frame);
    if (attempt.interrupt_grace) entry.link->send(wire::Interrupt{id, *attempt.interrupt_grace});
  }
  if (entry.extended_until) entry.link->send(wire::Extend{*entry.extended_until});
  if (entry.state == LeaseState::closing) entry.link->send(wire::Close{false});
  if (entry.state == LeaseState::ending) entry.link->send(wire::Close{true});
  return {};
}

// Commands

Status ProcessExecutor::Impl::launch(const LaunchSpec& spec) {
  LeaseEntry* lease = table_.find(spec.lease);
  if (lease == nullptr || lease->state != LeaseState::live) {
    return fail(ErrorCode::not_found, "lease {} is not open, so attempt {} cannot run in it", spec.lease.short_string(),
                spec.attempt.to_string());
  }
  std::string frame;
  wire::encode(launch_message(spec), frame);
  if (frame.size() > wire::kMaxFrameBytes) {
    return fail(ErrorCode::invalid, "command and environment of attempt {} take {} bytes; at most {} are possible",
                spec.attempt.to_string(), frame.size(), wire::kMaxFrameBytes);
  }
  if (lease->link->pending_bytes() + frame.size() > kPendingMaxBytes) {
    return fail(ErrorCode::exhausted, "the shim of lease {} has {} bytes of commands waiting",
                spec.lease.short_string(), lease->link->pending_bytes());
  }
  // A known attempt is sent all the same: the shim answers with its state, which is then reported anew.
  lease->link->send_encoded(frame);
  table_.attempts[spec.attempt] = AttemptEntry{spec.lease, AttemptPhase::sent, std::move(frame), {}};
  return {};
}

Status ProcessExecutor::Impl::interrupt(const AttemptId& attempt, Duration grace) {
  AttemptEntry* entry = table_.find(attempt);
  if (entry == nullptr) return fail(ErrorCode::not_found, "attempt {} is not here", attempt.to_string());
  LeaseEntry* lease = table_.find(entry->lease);
  if (entry->state == AttemptPhase::ended || !lease->link) return {};
  entry->interrupt_grace = grace;
  lease->link->send(wire::Interrupt{attempt, grace});
  return {};
}

Status ProcessExecutor::Impl::forget(const AttemptId& attempt) {
  AttemptEntry* entry = table_.find(attempt);
  if (entry == nullptr) return fail(ErrorCode::not_found, "attempt {} is not here", attempt.to_string());
  LeaseEntry* lease = table_.find(entry->lease);
  if (entry->state != AttemptPhase::ended && lease->state != LeaseState::lost) {
    return fail(ErrorCode::invalid, "attempt {} still runs; interrupt it and wait for its end", attempt.to_string());
  }
  if (lease->link) lease->link->send(wire::Forget{attempt, attempt_folder(attempt)});
  table_.attempts.erase(attempt);
  return {};
}

Status ProcessExecutor::Impl::close_lease(const LeaseId& lease) {
  LeaseEntry* entry = table_.find(lease);
  if (entry == nullptr) return fail(ErrorCode::not_found, "lease {} is not open", lease.short_string());
  if (entry->state != LeaseState::live) return {};
  entry->state = LeaseState::closing;
  entry->link->send(wire::Close{false});
  return {};
}

Status ProcessExecutor::Impl::extend_lease(const LeaseId& lease, WallTime deadline) {
  LeaseEntry* entry = table_.find(lease);
  if (entry == nullptr) return fail(ErrorCode::not_found, "lease {} is not open", lease.short_string());
  entry->extended_until = deadline;
  if (entry->link) entry->link->send(wire::Extend{deadline});
  return {};
}

Status ProcessExecutor::Impl::end_lease(const LeaseId& lease) {
  LeaseEntry* entry = table_.find(lease);
  if (entry == nullptr) return fail(ErrorCode::not_found, "lease {} is not open", lease.short_string());
  if (entry->state == LeaseState::ending) return {};
  bool alive = entry->state != LeaseState::lost && !entry->clearing;
  bool clearing = entry->clearing;
  entry->state = LeaseState::ending;
  if (alive) {
    entry->link->send(wire::Close{true});
    after(std::chrono::nanoseconds(options_.answer_limit.ns), [lease](Impl& self) { self.force_end(lease); });
  } else if (!clearing) {
    entry->clearing = true;
    boost::asio::post(executor_, [self = shared_from_this(), lease] { self->clear(lease, 0); });
  }
  return {};
}

/// A shim that does not answer is ended from outside; its connection then breaks, and all goes on from there.
void ProcessExecutor::Impl::force_end(const LeaseId& lease) {
  LeaseEntry* entry = table_.find(lease);
  if (entry == nullptr || entry->clearing) return;
  kill_shim(static_cast<pid_t>(entry->shim_pid), lease);
  if (entry->link) entry->link->close();
  entry->link.reset();
  entry->clearing = true;
  clear(lease, 0);
}

// News from shims

void ProcessExecutor::Impl::on_message(const LeaseId& lease, const wire::Message& message) {
  if (stopped_ || table_.find(lease) == nullptr) return;
  if (auto* hello = std::get_if<wire::Hello>(&message)) table_.find(lease)->shim_pid = hello->pid;
  if (auto* started = std::get_if<wire::Started>(&message)) on_started(lease, *started);
  if (auto* ended = std::get_if<wire::Ended>(&message)) on_ended(lease, *ended);
  if (std::holds_alternative<wire::Listed>(message)) on_listed(lease);
}

void ProcessExecutor::Impl::on_started(const LeaseId& lease, const wire::Started& started) {
  LeaseEntry* entry = table_.find(lease);
  if (entry->adopting) {
    return adopt_attempt(lease, {started.attempt, false, started.pid, started.wall, {}});
  }
  AttemptEntry* attempt = table_.find(started.attempt);
  if (attempt == nullptr || attempt->state != AttemptPhase::sent) return;
  attempt->state = AttemptPhase::running;
  attempt->launch_frame = std::string();
  if (entry->state != LeaseState::ending) emit(AttemptStarted{lease, started.attempt, started.pid, started.wall});
}

void ProcessExecutor::Impl::on_ended(const LeaseId& lease, const wire::Ended& ended) {
  LeaseEntry* entry = table_.find(lease);
  if (entry->adopting) {
    return adopt_attempt(lease, {ended.attempt, true, 0, ended.record.started, ended.record});
  }
  AttemptEntry* attempt = table_.find(ended.attempt);
  if (attempt == nullptr) {
    // Forgotten here, but the shim did not hear it before a connection broke.
    entry->link->send(wire::Forget{ended.attempt, attempt_folder(ended.attempt)});
    return;
  }
  if (attempt->state == AttemptPhase::ended) return;
  attempt->state = AttemptPhase::ended;
  attempt->launch_frame = std::string();
  if (entry->state != LeaseState::ending) emit(AttemptEnded{lease, ended.attempt, ended.record});
}

void ProcessExecutor::Impl::on_listed(const LeaseId& lease) {
  LeaseEntry* entry = table_.find(lease);
  entry->reconnects = 0;
  if (entry->adopting) adoption_answered(lease);
}

void ProcessExecutor::Impl::on_link_lost(const LeaseId& lease) {
  LeaseEntry* entry = table_.find(lease);
  if (stopped_ || entry == nullptr || entry->clearing) return;
  if (++entry->reconnects <= kReconnectsMax && connect(lease, *entry)) return;
  force_end(lease);
}

// The end of a lease

void ProcessExecutor::Impl::clear(const LeaseId& lease, int round) {
  LeaseEntry* entry = table_.find(lease);
  if (stopped_ || entry == nullptr) return;
  if (kill_lease_processes(entry->branches, lease) > 0 && round < kClearRoundsMax) {
    return after(kClearRetry, [lease, round](Impl& self) { self.clear(lease, round + 1); });
  }
  remove_lease_cgroups(entry->branches, lease);
  on_cleared(lease);
}

void ProcessExecutor::Impl::on_cleared(const LeaseId& lease) {
  LeaseEntry& entry = *table_.find(lease);
  entry.clearing = false;
  std::string path = directory(lease);
  if (entry.adopting) {
    entry.state = LeaseState::lost;
    for (const auto& [attempt, record] : read_records(path + "/records")) {
      adopt_attempt(lease, {attempt, true, 0, record.started, record});
    }
    return adoption_answered(lease);
  }
  bool gone = !exists(path);
  if (entry.state == LeaseState::ending && !gone) {
    return delete_in_background(executor_, path, [weak = weak_from_this(), lease] {
      if (auto self = weak.lock(); self && !self->stopped_) self->report_closed(lease);
    });
  }
  if (gone && entry.state != LeaseState::live) return report_closed(lease);
  report_lost(lease, entry);
}

void ProcessExecutor::Impl::report_lost(const LeaseId& lease, LeaseEntry& entry) {
  entry.state = LeaseState::lost;
  // What the shim wrote down but could not tell any more.
  for (const auto& [id, record] : read_records(directory(lease) + "/records")) {
    AttemptEntry* attempt = table_.find(id);
    if (attempt == nullptr || attempt->state == AttemptPhase::ended) continue;
    attempt->state = AttemptPhase::ended;
    emit(AttemptEnded{lease, id, record});
  }
  std::string note = read_small_file(directory(lease) + "/shim.log").value_or("");
  emit(LeaseLost{lease, fmt::format("the shim of lease {} (process {}) ended without being told{}{}",
                                    lease.short_string(), entry.shim_pid, note.empty() ? "" : ": ", note)});
}

void ProcessExecutor::Impl::report_closed(const LeaseId& lease) {
  table_.erase(lease);
  emit(LeaseRemoved{lease});
}

// Adoption

void ProcessExecutor::Impl::adopt(std::function<void(std::vector<FoundLease>)> done) {
  adoption_ = std::make_unique<Adoption>();
  adoption_->done = std::move(done);
  std::vector<LeaseId> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.root, error)) {
    if (auto lease = LeaseId::parse(entry.path().filename().string())) found.push_back(*lease);
  }
  adoption_->waiting.insert(found.begin(), found.end());
  boost::asio::post(executor_, [self = shared_from_this(), found] {
    if (self->stopped_) return;
    for (const LeaseId& lease : found) self->adopt_lease(lease);
    if (found.empty()) self->adoption_answered({});
  });
  after(std::chrono::nanoseconds(options_.answer_limit.ns), [found](Impl& self) {
    for (const LeaseId& lease : found) {
      if (self.adoption_ && self.adoption_->waiting.contains(lease)) self.force_end(lease);
    }
  });
}

void ProcessExecutor::Impl::adopt_lease(const LeaseId& lease) {
  LeaseEntry& entry = table_.leases[lease];
  ShimNote note = read_shim_note(directory(lease));
  entry.adopting = true;
  entry.branches = note.branches;
  entry.shim_pid = static_cast<std::uint32_t>(note.pid);
  adoption_->leases[lease].lease = lease;
  if (connect(lease, entry)) {
    reap_when_ended(executor_, note.pid);  // It may be our child, if only this object was made anew.
  } else {
    force_end(lease);
  }
}

void ProcessExecutor::Impl::adopt_attempt(const LeaseId& lease, FoundAttempt attempt) {
  AttemptPhase state = attempt.ended ? AttemptPhase::ended : AttemptPhase::running;
  table_.attempts[attempt.attempt] = AttemptEntry{lease, state, {}, {}};
  auto& list = adoption_->leases[lease].attempts;
  std::erase_if(list, [&](const FoundAttempt& known) { return known.attempt == attempt.attempt; });
  list.push_back(std::move(attempt));
}

void ProcessExecutor::Impl::adoption_answered(const LeaseId& lease) {
  adoption_->waiting.erase(lease);
  if (!adoption_->waiting.empty()) return;
  std::unique_ptr<Adoption> adoption = std::move(adoption_);
  std::vector<FoundLease> result;
  for (auto& [id, adopted] : adoption->leases) {
    LeaseEntry* entry = table_.find(id);
    entry->adopting = false;
    adopted.live = entry->state == LeaseState::live;
    if (!adopted.live) std::erase_if(adopted.attempts, [](const FoundAttempt& attempt) { return !attempt.ended; });
    result.push_back(std::move(adopted));
  }
  adoption->done(std::move(result));
}

// The public face

std::string default_shim_program() {
  std::error_code error;
  return (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "abacus-shim").string();
}

Status check_shim_program(const std::string& path) {
  if (access(path.c_str(), X_OK) == 0) return {};
  return fail(ErrorCode::not_found,
              "tasks cannot be run: {} is not there or not a program; abacus-shim belongs beside abacus", path);
}

ProcessExecutor::ProcessExecutor(boost::asio::any_io_executor executor, ProcessExecutorOptions options, ExecSink sink)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options), std::move(sink))) {}

ProcessExecutor::~ProcessExecutor() { impl_->stop(); }

Status ProcessExecutor::open_lease(const LeaseSpec& spec) { return impl_->open_lease(spec); }
Status ProcessExecutor::launch(const LaunchSpec& spec) { return impl_->launch(spec); }
Status ProcessExecutor::interrupt(const AttemptId& attempt, Duration grace) { return impl_->interrupt(attempt, grace); }
Status ProcessExecutor::forget(const AttemptId& attempt) { return impl_->forget(attempt); }
Status ProcessExecutor::close_lease(const LeaseId& lease) { return impl_->close_lease(lease); }
Status ProcessExecutor::extend_lease(const LeaseId& lease, WallTime deadline) {
  return impl_->extend_lease(lease, deadline);
}
Status ProcessExecutor::end_lease(const LeaseId& lease) { return impl_->end_lease(lease); }
void ProcessExecutor::adopt(std::function<void(std::vector<FoundLease>)> done) {
  impl_ = impl_->anew();
  impl_->adopt(std::move(done));
}
const IsolationReport& ProcessExecutor::isolation() const { return impl_->isolation(); }

AttemptPaths ProcessExecutor::paths(const LeaseId& lease, const AttemptId& attempt) const {
  std::string base = impl_->directory(lease) + "/" + attempt_folder(attempt);
  return {base, base + ".stdout", base + ".stderr"};
}

}  // namespace abacus
