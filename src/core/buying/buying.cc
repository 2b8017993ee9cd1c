// Routing between the rooms of the buying side.
#include "core/buying/buying.h"

#include <algorithm>
#include <utility>

#include "core/buying/awards.h"
#include "core/buying/custody.h"
#include "core/buying/ends.h"
#include "core/buying/negotiation.h"
#include "core/buying/planning.h"
#include "core/buying/renewal.h"
#include "core/buying/reports.h"
#include "core/buying/restoring.h"
#include "core/buying/settlement.h"
#include "core/buying/watch.h"

namespace abacus {
namespace {

void on_deadline(Turn& t, Job& job) {
  if (job.pending.empty()) return;
  end_pending(t, job, EndKind::unplaceable, "its deadline passed before anybody took it");
  after_change(t, job);
}

/// What to do when a timer fires.
struct OnTimer {
  Turn& t;

  void operator()(const EpisodeDue& due) const {
    Job* job = t.desk.job(due.job);
    if (!job) return;
    on_episode_due(t, *job);
    after_change(t, *job);
  }
  void operator()(const DeadlineDue& due) const {
    if (Job* job = t.desk.job(due.job)) on_deadline(t, *job);
  }
  void operator()(const LeaseDue& due) const {
    if (Lease* lease = t.desk.lease(due.lease)) on_lease_due(t, *lease);
  }
  void operator()(const FetchDue& due) const { on_fetch_due(t, due.task); }
  void operator()(const PlanDue& due) const { on_plan_due(t, due.negotiation); }
  void operator()(const RetentionDue&) const { on_retention_due(t); }
};

}  // namespace

Buying::Buying(BuyingConfig config, Contact self, OrgId organisation, std::string region, Prng prng)
    : desk_{config, self, organisation, std::move(region), prng, {}, {}, {}, {}, {}, SellerBook{}, {}, {}, false} {}

void Buying::restore(const JobRecord& record) { restore_job(desk_, record); }
void Buying::restore(const TaskRecord& record) { restore_task(desk_, record); }
void Buying::restore(const BoughtLeaseRecord& record) { restore_lease(desk_, record); }

void Buying::restored(const Peers& peers, Now now, Effects& fx) {
  Turn t{desk_, peers, now, fx};
  resume(t);
}

void Buying::on(const SubmitJob& command, const Peers& peers, Now now, Effects& fx) {
  Turn t{desk_, peers, now, fx};
  submit(t, command);
}

void Buying::on(const CancelJob& command, const Peers& peers, Now now, Effects& fx) {
  Turn t{desk_, peers, now, fx};
  cancel(t, command);
}

void Buying::on(const PlanJob& command, const Peers& peers, Now now, Effects& fx) {
  Turn t{desk_, peers, now, fx};
  plan(t, command);
}

void Buying::on(const OutputsFetched& fetched, const Peers& peers, Now now, Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_outputs(t, fetched);
}

void Buying::on(const Contact& from, const TraceContext&, const Quote& quote, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  if (!plan_quoted(t, from, quote)) on_quote(t, from, quote);
}

void Buying::on(const Contact& from, const TraceContext&, const Decline& decline, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  if (!plan_declined(t, from, decline)) on_decline(t, from, decline);
}

void Buying::on(const Contact& from, const TraceContext& trace, const Accept& accept, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_accept(t, from, trace, accept);
}

void Buying::on(const Contact& from, const TraceContext&, const Refuse& refuse, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_refuse(t, from, refuse);
}

void Buying::on(const Contact& from, const TraceContext&, const CallBack& call, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_call_back(t, from, call.quote);
}

void Buying::on(const Contact& from, const TraceContext& trace, const Started& started, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_started(t, from, trace, started);
}

void Buying::on(const Contact& from, const TraceContext& trace, const Done& done, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_done(t, from, trace, done);
}

void Buying::on(const Contact& from, const TraceContext&, const LeaseReport& report, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_lease_report(t, from, report);
}

void Buying::on(const Contact& from, const TraceContext&, const Renewed& renewed, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_renewed(t, from, renewed);
}

void Buying::on(const Contact& from, const TraceContext&, const Release& release_message, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_release(t, from, release_message);
}

void Buying::on(const Contact& from, const TraceContext& trace, const Receipt& receipt, const Peers& peers, Now now,
                Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_receipt(t, from, trace, receipt);
}

void Buying::on_notice(const NodeId& peer, bool suspect, const Peers& peers, Now now, Effects& fx) {
  Turn t{desk_, peers, now, fx};
  on_suspicion(t, peer, suspect);
}

void Buying::on_wake(const Peers& peers, Now now, Effects& fx) {
  Turn t{desk_, peers, now, fx};
  while (std::optional<BuyingTimer> due = desk_.timers.take_due(now.mono)) std::visit(OnTimer{t}, *due);
}

bool Buying::take_wants_search() { return std::exchange(desk_.wants_search, false); }

std::vector<Contact> Buying::counterparties() const {
  std::vector<Contact> contacts;
  for (const auto& [id, lease] : desk_.leases) contacts.push_back(lease.record.seller);
  std::sort(contacts.begin(), contacts.end());
  contacts.erase(std::unique(contacts.begin(), contacts.end()), contacts.end());
  return contacts;
}

std::set<Digest> Buying::inputs_in_use() const {
  std::set<Digest> inputs;
  for (const auto& [id, job] : desk_.jobs) {
    if (!job.record.ended_at && !job.spec().work.input.empty()) inputs.insert(job.spec().work.input);
  }
  return inputs;
}

std::vector<JobView> Buying::jobs(Now now, std::size_t limit) const {
  std::vector<const Job*> found;
  for (const auto& [id, job] : desk_.jobs) found.push_back(&job);
  auto later = [](const Job* a, const Job* b) {
    return std::pair(a->record.submitted_at, a->id()) > std::pair(b->record.submitted_at, b->id());
  };
  limit = std::min(limit, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(limit), found.end(), later);
  std::vector<JobView> views;
  for (std::size_t i = 0; i < limit; ++i) views.push_back(view_of(*found[i], now));
  return views;
}

Result<const Job*> Buying::find_job(const JobId& id) const {
  auto found = desk_.jobs.find(id);
  if (found == desk_.jobs.end()) {
    return fail(ErrorCode::not_found, "this agent has no job {}: ask the one that it was submitted to", id.to_string());
  }
  return &found->second;
}

Result<JobView> Buying::job(const JobId& id, Now now) const {
  TRY(const Job* job, find_job(id));
  return view_of(*job, now);
}

Result<std::vector<TaskView>> Buying::tasks(const JobId& id, std::size_t offset, std::size_t limit) const {
  TRY(const Job* job, find_job(id));
  std::vector<TaskView> views;
  for (std::size_t i = offset; i < job->size() && views.size() < limit; ++i) {
    views.push_back(view_of(*job, static_cast<std::uint32_t>(i)));
  }
  return views;
}

Result<TaskView> Buying::task(const TaskId& id) const {
  TRY(const Job* job, find_job(id.job));
  std::optional<std::uint32_t> position = job->position_of(id.index);
  if (!position) return fail(ErrorCode::not_found, "job {} has no task {}", id.job.to_string(), id.index);
  return view_of(*job, *position);
}

Result<ExplainView> Buying::explain(const TaskId& id, Now now) const {
  TRY(const Job* job, find_job(id.job));
  std::optional<std::uint32_t> position = job->position_of(id.index);
  if (!position) return fail(ErrorCode::not_found, "job {} has no task {}", id.job.to_string(), id.index);
  return abacus::explain(*job, *position, now);
}

std::vector<BoughtLeaseView> Buying::leases() const {
  std::vector<BoughtLeaseView> views;
  for (const auto& [id, lease] : desk_.leases) views.push_back(view_of(lease));
  return views;
}

}  // namespace abacus
