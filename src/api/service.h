// What an agent can do for its users: the interface that HTTP is translated into.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/endpoint.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/model/commands.h"
#include "core/model/views.h"
#include "protocol/bulk_messages.h"

namespace abacus {

/// What every call returns: a value or an Error, later.
template <class T>
using Async = boost::asio::awaitable<Result<T>>;

/// A file or folder of the custodian's machine that every task of a job finds in its working directory.
struct InputPath {
  std::string source;  ///< Absolute path.
  std::string name;    ///< Relative path in the working directory, without "..".

  auto operator<=>(const InputPath&) const = default;
};
BOOST_DESCRIBE_STRUCT(InputPath, (), (source, name))

/// A job and the files that it needs. `spec.work.input` and `spec.input_bytes` are the agent's to fill in.
struct SubmitRequest {
  JobSpec spec;
  std::vector<InputPath> inputs;

  auto operator<=>(const SubmitRequest&) const = default;
};

/// Who this agent is.
struct AgentInfo {
  std::string version;
  NodeId node;
  OrgId organisation;
  std::string region;
  Endpoint endpoint;  ///< Where peers reach it.
  std::uint32_t pid = 0;
  WallTime started_at;
  std::vector<std::string> isolation;  ///< What keeps tasks apart here, one sentence each.
};
BOOST_DESCRIBE_STRUCT(AgentInfo, (), (version, node, organisation, region, endpoint, pid, started_at, isolation))

/// Some bytes of a task's output.
struct LogPiece {
  std::string bytes;
  std::uint64_t next_offset = 0;  ///< Where to go on reading.
  bool eof = false;               ///< The task has ended and everything kept of its output was read.
  bool available = true;          ///< False: there is no output yet, or it cannot be reached now.
};

/// Lets other nodes join the organisation.
struct EnrolToken {
  std::string token;
  WallTime expires_at;
  std::uint32_t uses = 1;
};
BOOST_DESCRIBE_STRUCT(EnrolToken, (), (token, expires_at, uses))

/// Implemented by the agent, called by the API. All calls are made on one executor, several may be under way at once,
/// and the object outlives them. Parameters are values, because a coroutine keeps them. Errors that any call may have
/// besides those named: `unavailable` while the agent starts or stops, `internal`.
class Service {
 public:
  virtual ~Service() = default;

  virtual Async<AgentInfo> info() = 0;

  /// Takes a job into custody: durable when it returns. Errors: `invalid` (the job), `not_found` / `denied` (an input).
  virtual Async<JobSubmitted> submit(SubmitRequest request) = 0;
  /// Cancels a job or one task of it; harmless for what has ended. Errors: `not_found`.
  virtual Async<JobCancelled> cancel(JobId job, std::optional<std::uint32_t> index) = 0;
  /// Asks sellers for prices, buys nothing. Errors: `invalid`.
  virtual Async<PlanResult> plan(JobSpec spec) = 0;
  /// Stops selling (running work goes on), or starts again.
  virtual Async<Drained> drain(bool on) = 0;

  /// The latest submitted first, at most `limit`.
  virtual Async<std::vector<JobView>> jobs(std::uint32_t limit) = 0;
  /// Errors: `not_found`.
  virtual Async<JobView> job(JobId job) = 0;
  /// In order of index, from the `offset`th (a position, not an index). Errors: `not_found`.
  virtual Async<std::vector<TaskView>> tasks(JobId job, std::uint32_t offset, std::uint32_t limit) = 0;
  /// Errors: `not_found`.
  virtual Async<TaskView> task(TaskId task) = 0;
  /// Errors: `not_found`.
  virtual Async<ExplainView> explain(TaskId task) = 0;
  /// Returns when the job has changed since the call, or after `timeout`. May return early. Errors: `not_found`.
  virtual Async<void> wait_change(JobId job, Duration timeout) = 0;
  /// At most `max_bytes` of a task's output from `offset` on, of its latest attempt that has output; during the run and
  /// after the end. An offset past the end gives no bytes. Errors: `not_found` (no such task).
  virtual Async<LogPiece> read_log(TaskId task, LogStream stream, std::uint64_t offset, std::size_t max_bytes) = 0;

  /// Nodes that this one knows, itself first.
  virtual Async<std::vector<PeerView>> peers() = 0;
  virtual Async<SellingView> selling() = 0;
  virtual Async<std::vector<BoughtLeaseView>> bought_leases() = 0;
  virtual Async<Counters> counters() = 0;
  /// Prometheus text format 0.0.4.
  virtual Async<std::string> metrics() = 0;

  /// A token with which `uses` nodes can join within `ttl`. Errors: `denied` if this node does not hold the
  /// organisation's key.
  virtual Async<EnrolToken> new_token(Duration ttl, std::uint32_t uses) = 0;
  /// Returns at once; the agent then stops. `end_work`: ends what runs here; otherwise it goes on under its shims and
  /// the next agent on the same data directory takes it over.
  virtual Async<void> shutdown(bool end_work) = 0;
};

}  // namespace abacus
