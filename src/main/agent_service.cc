// Each call of the API, answered by the agent's node or posted to it as a command.
#include "main/agent_service.h"

#include <unistd.h>

#include "runtime/agent/loop_pump.h"

namespace abacus {

AgentService::AgentService(Agent& agent, OrgAuthority* authority, std::function<void(bool)> stop)
    : agent_(agent), authority_(authority), stop_(std::move(stop)), started_at_(read_clocks().wall) {}

Async<AgentInfo> AgentService::info() {
  AgentInfo info;
  info.version = ABACUS_VERSION;
  info.node = agent_.identity().node_id();
  info.organisation = agent_.identity().org_id();
  info.region = agent_.node().config().region;
  info.endpoint = agent_.endpoint();
  info.pid = static_cast<std::uint32_t>(getpid());
  info.started_at = started_at_;
  info.isolation = {agent_.isolation()};
  co_return info;
}

Async<JobSubmitted> AgentService::submit(SubmitRequest request) {
  std::vector<PackSource> inputs;
  for (const InputPath& input : request.inputs) inputs.push_back({input.source, input.name});
  co_return co_await agent_.submit(std::move(request.spec), std::move(inputs));
}

Async<std::vector<JobView>> AgentService::jobs(std::uint32_t limit) { co_return buying().jobs(read_clocks(), limit); }

Async<JobView> AgentService::job(JobId job) { co_return buying().job(job, read_clocks()); }

Async<std::vector<TaskView>> AgentService::tasks(JobId job, std::uint32_t offset, std::uint32_t limit) {
  co_return buying().tasks(job, offset, limit);
}

Async<TaskView> AgentService::task(TaskId task) { co_return buying().task(task); }

Async<ExplainView> AgentService::explain(TaskId task) { co_return buying().explain(task, read_clocks()); }

Async<void> AgentService::wait_change(JobId job, Duration timeout) {
  auto known = buying().job(job, read_clocks());
  if (!known) co_return fail(known.error());
  co_await agent_.wait_change(job, timeout);
  co_return Status{};
}

Async<LogPiece> AgentService::read_log(TaskId task, LogStream stream, std::uint64_t offset, std::size_t max_bytes) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  auto read =
      co_await agent_.read_log(task, stream, offset, static_cast<std::uint32_t>(std::min(max_bytes, kMaxBytes)));
  LogPiece piece;
  piece.next_offset = offset;
  if (!read && read.error().code == ErrorCode::not_found) co_return fail(read.error());
  piece.available = read.has_value();
  if (read) {
    piece.bytes = as_text(read->bytes);
    piece.next_offset = read->next_offset;
    piece.eof = read->end;
  }
  co_return piece;
}

Async<std::vector<PeerView>> AgentService::peers() { co_return agent_.peers(); }

Async<SellingView> AgentService::selling() { co_return agent_.node().selling().view(read_clocks()); }

Async<std::vector<BoughtLeaseView>> AgentService::bought_leases() { co_return buying().leases(); }

Async<Counters> AgentService::counters() { co_return agent_.node().counters(); }

Async<std::string> AgentService::metrics() { co_return agent_.metrics(); }

Async<EnrolToken> AgentService::new_token(Duration ttl, std::uint32_t uses) {
  if (authority_ == nullptr) {
    co_return fail(ErrorCode::denied,
                   "this agent does not hold the organisation's key: ask on the machine where "
                   "'abacus org init' was run");
  }
  Now now = read_clocks();
  auto token = authority_->make_token({uses, ttl, {}}, now.wall);
  if (!token) co_return fail(token.error());
  co_return EnrolToken{token->to_string(), now.wall + ttl, uses};
}

Async<void> AgentService::shutdown(bool end_work) {
  stop_(end_work);
  co_return Status{};
}

}  // namespace abacus
