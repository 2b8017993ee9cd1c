// The API's Service on top of a running agent: forwarding only.
#pragma once

#include <functional>

#include "api/service.h"
#include "runtime/agent/agent.h"
#include "runtime/net/authority.h"

namespace abacus {

/// Lives on the agent's loop; agent and authority outlive it.
class AgentService final : public Service {
 public:
  /// `authority` is null where the organisation's key is not held. `stop` ends the program's loop.
  AgentService(Agent& agent, OrgAuthority* authority, std::function<void(bool end_work)> stop);

  Async<AgentInfo> info() override;
  Async<JobSubmitted> submit(SubmitRequest request) override;
  Async<JobCancelled> cancel(JobId job, std::optional<std::uint32_t> index) override {
    return agent_.cancel(job, index);
  }
  Async<PlanResult> plan(JobSpec spec) override { return agent_.plan(std::move(spec)); }
  Async<Drained> drain(bool on) override { return agent_.drain(on); }
  Async<std::vector<JobView>> jobs(std::uint32_t limit) override;
  Async<JobView> job(JobId job) override;
  Async<std::vector<TaskView>> tasks(JobId job, std::uint32_t offset, std::uint32_t limit) override;
  Async<TaskView> task(TaskId task) override;
  Async<ExplainView> explain(TaskId task) override;
  Async<void> wait_change(JobId job, Duration timeout) override;
  Async<LogPiece> read_log(TaskId task, LogStream stream, std::uint64_t offset, std::size_t max_bytes) override;
  Async<std::vector<PeerView>> peers() override;
  Async<SellingView> selling() override;
  Async<std::vector<BoughtLeaseView>> bought_leases() override;
  Async<Counters> counters() override;
  Async<std::string> metrics() override;
  Async<EnrolToken> new_token(Duration ttl, std::uint32_t uses) override;
  Async<void> shutdown(bool end_work) override;

 private:
  const Buying& buying() const { return agent_.node().buying(); }

  Agent& agent_;
  OrgAuthority* authority_;
  std::function<void(bool)> stop_;
  WallTime started_at_;
};

}  // namespace abacus
