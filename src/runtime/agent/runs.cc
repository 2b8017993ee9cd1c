// An attempt's way at the seller: staging, launch, end, outputs packed; each step answered by an event.
#include "runtime/agent/runs.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "runtime/agent/exit_translation.h"
#include "runtime/agent/pin_owners.h"
#include "runtime/agent/task_environment.h"
#include "runtime/data/bulk_client.h"
#include "runtime/data/pack.h"
#include "runtime/data/run_on.h"
#include "runtime/data/unpack.h"

namespace abacus {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr std::uint32_t kPidsMaxDefault = 4'096;

/// Makes a log file part of the working directory's tree, without copying it.
Status link_log(const std::string& log, const fs::path& work_dir, LogStream stream) {
  std::error_code error;
  if (!fs::exists(log, error)) return {};
  fs::create_directories(work_dir / kLogFolder, error);
  fs::create_hard_link(log, work_dir / log_name(stream), error);
  if (error) return fail(ErrorCode::internal, "cannot keep {}: {}", log, error.message());
  return {};
}

}  // namespace

std::string log_name(LogStream stream) {
  return std::string(kLogFolder) + (stream == LogStream::standard_output ? "/stdout" : "/stderr");
}

void Runs::remember(const SoldLeaseRecord& record) { leases_[record.lease] = {record.buyer.node, record.work.outputs}; }

void Runs::note(const AttemptId& attempt, const LeaseId& lease, bool ended) {
  std::lock_guard lock(mutex_);
  places_[attempt] = {lease, leases_[lease].buyer, ended};
}

// ---- leases --------------------------------------------------------------------------------------------------------

void Runs::act(const OpenLease& open) {
  leases_[open.lease].buyer = open.buyer;
  Status opened = executor_.open_lease({open.lease, open.until, open.slots});
  if (opened || opened.error().code == ErrorCode::already_exists) return;
  ports_.log->warn("lease {}: {}", open.lease.short_string(), opened.error().message);
  ports_.post(LeaseProcessLost{open.lease, opened.error().message});
}

void Runs::act(const ExtendLease& extend) {
  Status extended = executor_.extend_lease(extend.lease, extend.until);
  if (!extended) ports_.log->debug("extend {}: {}", extend.lease.short_string(), extended.error().message);
}

void Runs::act(const CloseLease& close) {
  Status ended = executor_.end_lease(close.lease);
  if (!ended && ended.error().code != ErrorCode::not_found) {
    ports_.log->warn("lease {}: {}", close.lease.short_string(), ended.error().message);
  }
  leases_.erase(close.lease);
  std::lock_guard lock(mutex_);
  std::erase_if(places_, [&](const auto& entry) { return entry.second.lease == close.lease; });
}

void Runs::on_event(const LeaseLost& lost) { ports_.post(LeaseProcessLost{lost.lease, lost.reason}); }

void Runs::on_event(const LeaseRemoved&) {}

// ---- starting ------------------------------------------------------------------------------------------------------

void Runs::act(const StageInputs& stage_inputs) { asio::co_spawn(ports_.loop, stage(stage_inputs), asio::detached); }

asio::awaitable<void> Runs::stage(StageInputs stage) {
  std::string owner = staging_owner(stage.attempt);
  Status status;
  if (stage.from.node != ports_.self) {
    status = co_await fetch_tree(store_, owner, stage.input, ports_.bulk_to(stage.from), ports_.pool);
  }
  if (status) {
    fs::path work_dir = executor_.paths(stage.lease, stage.attempt).work;
    status = co_await run_on(ports_.pool, [&]() -> Status {
      std::error_code error;
      fs::create_directories(work_dir.parent_path(), error);
      fs::remove_all(work_dir, error);
      TRY(Manifest tree, load_manifest(store_, stage.input));
      return unpack(store_, tree, work_dir, room_at(work_dir.parent_path()));
    });
  }
  Status unpinned = co_await run_on(ports_.pool, [&] { return store_.unpin(owner); });
  if (!unpinned) ports_.log->warn("{}", unpinned.error().message);
  ports_.post(InputsStaged{stage.lease, stage.attempt, status ? "" : status.error().message});
}

LaunchSpec Runs::spec_for(const Launch& launch) const {
  LaunchSpec spec;
  spec.lease = launch.lease;
  spec.attempt = launch.attempt;
  spec.argv = launch.work.command;
  spec.env = task_environment(launch, ports_.self, region_, executor_.paths(launch.lease, launch.attempt).work);
  spec.limits = limits_ ? Limits::cgroup : Limits::none;
  spec.cpu_milli = launch.bundle.cpu_milli;
  spec.memory_bytes = launch.bundle.memory_bytes;
  spec.pids_max = launch.work.pids_max != 0 ? launch.work.pids_max : kPidsMaxDefault;
  spec.output_cap_bytes = launch.work.log_cap_bytes;
  spec.time_limit = launch.work.time_limit;
  spec.grace = launch.work.grace;
  return spec;
}

void Runs::act(const Launch& launch) {
  leases_[launch.lease] = {launch.buyer, launch.work.outputs};
  note(launch.attempt, launch.lease, false);
  Status launched = executor_.launch(spec_for(launch));
  if (launched) return;
  TaskEnd end;
  end.kind = launched.error().code == ErrorCode::invalid ? EndKind::failed_to_start : EndKind::lost;
  end.message = launched.error().message;
  ports_.post(ProcessEnded{launch.lease, launch.attempt, end});
}

void Runs::on_event(const AttemptStarted& started) {
  ports_.post(ProcessStarted{started.lease, started.attempt, started.wall});
}

void Runs::act(const InterruptProcess& interrupt) {
  Status status = executor_.interrupt(interrupt.attempt, interrupt.grace);
  if (!status) ports_.log->debug("interrupt {}: {}", interrupt.attempt.to_string(), status.error().message);
}

// ---- ending --------------------------------------------------------------------------------------------------------

void Runs::on(const ExecEvent& event) {
  std::visit([&](const auto& e) { on_event(e); }, event);
}

void Runs::on_event(const AttemptEnded& ended) { asio::co_spawn(ports_.loop, end(ended), asio::detached); }

asio::awaitable<void> Runs::end(AttemptEnded ended) {
  TaskEnd end = co_await close_books(ended.lease, ended.attempt, ended.record);
  note(ended.attempt, ended.lease, true);
  ports_.post(ProcessEnded{ended.lease, ended.attempt, std::move(end)});
}

asio::awaitable<TaskEnd> Runs::close_books(LeaseId lease, AttemptId attempt, ExitRecord record) {
  TaskEnd end = to_task_end(record);
  std::vector<std::string> outputs;
  if (auto found = leases_.find(lease); found != leases_.end()) outputs = found->second.outputs;
  bool has_output = record.stdout_bytes + record.stderr_bytes > 0 || !outputs.empty();
  if (end.kind == EndKind::failed_to_start || !has_output) co_return end;
  AttemptPaths paths = executor_.paths(lease, attempt);
  Status packed = co_await run_on(ports_.pool, [&] { return pack_into(end, paths, outputs, output_owner(attempt)); });
  if (!packed) {
    end.kind = EndKind::lost;
    end.message = packed.error().in("the outputs could not be kept").message;
  }
  co_return end;
}

Status Runs::pack_into(TaskEnd& end, const AttemptPaths& paths, const std::vector<std::string>& outputs,
                       const std::string& owner) {
  std::error_code error;
  fs::remove_all(fs::path(paths.work) / kLogFolder, error);
  fs::create_directories(paths.work, error);
  TRY_STATUS(link_log(paths.out, paths.work, LogStream::standard_output));
  TRY_STATUS(link_log(paths.err, paths.work, LogStream::standard_error));
  std::vector<std::string> patterns = outputs;
  if (fs::exists(fs::path(paths.work) / kLogFolder, error)) patterns.push_back(kLogFolder);
  TRY(PackedOutputs packed, pack_outputs(store_, owner, paths.work, patterns));
  end.output = packed.manifest;
  for (const OutputProblem& problem : packed.problems) {
    end.message +=
        fmt::format("{}output {}: {}", end.message.empty() ? "" : "; ", problem.pattern, problem.why.message);
  }
  return {};
}

void Runs::act(const ForgetAttempt& forget) {
  Status forgotten = executor_.forget(forget.attempt);
  if (!forgotten) ports_.log->debug("forget {}: {}", forget.attempt.to_string(), forgotten.error().message);
  {
    std::lock_guard lock(mutex_);
    places_.erase(forget.attempt);
  }
  asio::post(ports_.pool, [this, owner = output_owner(forget.attempt)] {
    if (Status unpinned = store_.unpin(owner); !unpinned) ports_.log->warn("{}", unpinned.error().message);
  });
}

// ---- after a restart -----------------------------------------------------------------------------------------------

void Runs::act(const AdoptRuns&) {
  executor_.adopt(
      [this](std::vector<FoundLease> found) { asio::co_spawn(ports_.loop, adopt(std::move(found)), asio::detached); });
}

asio::awaitable<void> Runs::adopt(std::vector<FoundLease> found) {
  RunsAdopted adopted;
  for (const FoundLease& lease : found) {
    AdoptedLease& entry = adopted.leases.emplace_back();
    entry.lease = lease.lease;
    for (const FoundAttempt& attempt : lease.attempts) {
      AdoptedAttempt state{attempt.attempt, attempt.ended, {}};
      if (attempt.ended) state.end = co_await close_books(lease.lease, attempt.attempt, attempt.record);
      note(attempt.attempt, lease.lease, attempt.ended);
      entry.attempts.push_back(std::move(state));
    }
  }
  ports_.post(std::move(adopted));
  for (const FoundLease& lease : found) {
    if (!lease.live) ports_.post(LeaseProcessLost{lease.lease, "it died while the agent was away"});
  }
}

Result<LogFile> Runs::find_log(const NodeId& peer, const AttemptId& attempt, LogStream stream) const {
  std::lock_guard lock(mutex_);
  auto found = places_.find(attempt);
  if (found == places_.end()) {
    return fail(ErrorCode::not_found, "attempt {} is not here (any more)", attempt.to_string());
  }
  const Place& place = found->second;
  if (place.buyer != peer) return fail(ErrorCode::denied, "attempt {} is not yours", attempt.to_string());
  AttemptPaths paths = executor_.paths(place.lease, attempt);
  return LogFile{stream == LogStream::standard_output ? paths.out : paths.err, place.ended};
}

}  // namespace abacus
