// The buying side of a node: a job's way from submission to receipt. DESIGN sections 4 and 5.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/buying/buying_config.h"
#include "core/buying/desk.h"
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/model/peers.h"
#include "core/model/views.h"

namespace abacus {

/// Custodian of the jobs submitted here. Deterministic; one thread. Peers may say anything: nothing they send is more
/// than counted, warned of or ignored.
///
/// Promises: a task ends exactly once, and is told so only when that is durable; an attempt is in at most one lease;
/// what is spent and committed for a job never passes its budget; no state lasts without a timer.
class Buying {
 public:
  /// `prng` must be another one after a restart: leases and negotiations are named by it.
  Buying(BuyingConfig config, Contact self, OrgId organisation, std::string region, Prng prng);

  // ---- after a restart: all records in key order, then `restored` ----
  void restore(const JobRecord& record);
  void restore(const TaskRecord& record);
  void restore(const BoughtLeaseRecord& record);
  void restored(const Peers& peers, Now now, Effects& fx);

  // ---- commands and reports ----
  void on(const SubmitJob& command, const Peers& peers, Now now, Effects& fx);
  void on(const CancelJob& command, const Peers& peers, Now now, Effects& fx);
  void on(const PlanJob& command, const Peers& peers, Now now, Effects& fx);
  void on(const OutputsFetched& fetched, const Peers& peers, Now now, Effects& fx);

  // ---- messages of sellers ----
  void on(const Contact& from, const TraceContext& trace, const Quote& quote, const Peers& peers, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Decline& decline, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Accept& accept, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Refuse& refuse, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const CallBack& call, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Started& started, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Done& done, const Peers& peers, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const LeaseReport& report, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Renewed& renewed, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Release& release, const Peers& peers, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Receipt& receipt, const Peers& peers, Now now,
          Effects& fx);

  /// The failure detector's opinion of a peer changed.
  void on_notice(const NodeId& peer, bool suspect, const Peers& peers, Now now, Effects& fx);

  std::optional<MonoTime> next_wake() const { return desk_.timers.next(); }
  void on_wake(const Peers& peers, Now now, Effects& fx);

  /// True once for each bundle that nothing known can hold: the overlay should look further.
  bool take_wants_search();

  /// The inputs that jobs in custody may still have to hand out.
  std::set<Digest> inputs_in_use() const;

  /// Sellers of open leases, each once, in order.
  std::vector<Contact> counterparties() const;

  // ---- views ----
  /// Latest submitted first.
  std::vector<JobView> jobs(Now now, std::size_t limit) const;
  /// Errors of the four: `not_found`.
  Result<JobView> job(const JobId& job, Now now) const;
  Result<std::vector<TaskView>> tasks(const JobId& job, std::size_t offset, std::size_t limit) const;
  Result<TaskView> task(const TaskId& task) const;
  Result<ExplainView> explain(const TaskId& task, Now now) const;
  std::vector<BoughtLeaseView> leases() const;
  std::optional<Price> last_price(const NodeId& seller) const { return desk_.sellers.last_price(seller); }
  const Counters& counters() const { return desk_.counters; }

 private:
  Result<const Job*> find_job(const JobId& job) const;

  Desk desk_;
};

}  // namespace abacus
