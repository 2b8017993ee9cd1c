// Views as text for people. Pure: the same view gives the same text.
#pragma once

#include <string>
#include <vector>

#include "api/service.h"
#include "cli/dev_market.h"

namespace abacus {

/// The list of jobs, `now` for their age.
std::string render_jobs(const std::vector<JobView>& jobs, WallTime now);

/// One job and its tasks; `hidden`: how many tasks are not in the list.
std::string render_job(const JobView& job, const std::vector<TaskView>& tasks, std::uint32_t hidden);

std::string render_nodes(const std::vector<PeerView>& nodes);

/// Offers with prices, then declines with what came nearest, then that nothing was bought.
std::string render_plan(const PlanResult& plan);

/// A sentence, then a table for each episode of negotiation.
std::string render_explain(const ExplainView& view);

std::string render_dev_market(const DevMarket& market, const std::vector<bool>& alive);

/// "exit 3", "signal 9", "timed out": how a task ended, in a word or two.
std::string end_text(const TaskEnd& end);

/// "memory: needs 8 GiB, has 2 GiB", "price limit below 0.5 cr/h", ...: what kept a seller from quoting.
std::string decline_text(const DeclineDetail& decline);

/// The first eight digits; "-" for none.
std::string node_text(const NodeId& node);

}  // namespace abacus
