// What users may tell a node, and what it answers.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/job.h"
#include "protocol/trade_messages.h"

namespace abacus {

/// Ties an answer to the command; drawn by whoever gives the command (the API).
using RequestId = std::uint64_t;

/// Takes a job into custody. The inputs named in it are in the custodian's store already.
struct SubmitJob {
  RequestId request = 0;
  JobSpec spec;
};
BOOST_DESCRIBE_STRUCT(SubmitJob, (), (request, spec))

/// Stops a job, or one task of it. Harmless for what has ended.
struct CancelJob {
  RequestId request = 0;
  JobId job;
  std::optional<std::uint32_t> index;
};
BOOST_DESCRIBE_STRUCT(CancelJob, (), (request, job, index))

/// Asks for prices, buys nothing.
struct PlanJob {
  RequestId request = 0;
  JobSpec spec;
};
BOOST_DESCRIBE_STRUCT(PlanJob, (), (request, spec))

/// Stops selling (running work goes on) or starts again.
struct Drain {
  RequestId request = 0;
  bool on = true;
};
BOOST_DESCRIBE_STRUCT(Drain, (), (request, on))

/// The job is durable here.
struct JobSubmitted {
  JobId job;
  std::uint32_t tasks = 0;
};
BOOST_DESCRIBE_STRUCT(JobSubmitted, (), (job, tasks))

struct JobCancelled {
  JobId job;
  std::uint32_t tasks = 0;  ///< That had not ended yet.
};
BOOST_DESCRIBE_STRUCT(JobCancelled, (), (job, tasks))

/// What one seller said to a plan.
struct PlanLine {
  NodeId seller;
  std::string region;
  std::optional<Quote> quote;
  std::optional<DeclineDetail> decline;  ///< Neither: no answer in time.
  Money expected_cost;                   ///< For one task of the expected run time (a minute where unknown).
};
BOOST_DESCRIBE_STRUCT(PlanLine, (), (seller, region, quote, decline, expected_cost))

struct PlanResult {
  std::uint32_t nodes_known = 0;
  std::vector<PlanLine> lines;  ///< Cheapest first, then declines.
};
BOOST_DESCRIBE_STRUCT(PlanResult, (), (nodes_known, lines))

struct Drained {
  bool on = true;
};
BOOST_DESCRIBE_STRUCT(Drained, (), (on))

// Errors are of base, which knows nothing of descriptions.
BOOST_DESCRIBE_ENUM(ErrorCode, invalid, not_found, already_exists, denied, unavailable, exhausted, timed_out, corrupt,
                    unsupported, internal)
BOOST_DESCRIBE_STRUCT(Error, (), (code, message))

using CommandAnswer = std::variant<JobSubmitted, JobCancelled, PlanResult, Drained, Error>;

}  // namespace abacus
