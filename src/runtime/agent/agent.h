// A running agent: the shipped node, driven with the real network, disk, processes and clocks.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/node.h"
#include "protocol/bulk_messages.h"
#include "runtime/agent/agent_options.h"
#include "runtime/data/pack.h"
#include "runtime/net/identity.h"
#include "runtime/net/transport.h"

namespace abacus {

/// Owns everything that runs. All members are to be called on the thread that runs `io`.
class Agent {
 public:
  /// Takes the data directory, restores the node, listens, joins. Errors: `not_found` (no identity: how to get one),
  /// `already_exists` (directory or port in use), `corrupt` (journal), others, each saying what to do.
  static Result<std::unique_ptr<Agent>> start(boost::asio::io_context& io, AgentOptions options);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  /// Leaves at once; running work goes on in its shims and is adopted by the next agent on this directory.
  ~Agent();

  /// Says goodbye to the neighbours and waits until what is under way is durable, a second at most.
  boost::asio::awaitable<void> leave();

  /// Ends what runs here for others and for itself: its buyers place that work again.
  void end_all_work();

  /// Packs the inputs, takes the job into custody; returns when it is durable here.
  boost::asio::awaitable<Result<JobSubmitted>> submit(JobSpec spec, std::vector<PackSource> inputs);
  boost::asio::awaitable<Result<JobCancelled>> cancel(JobId job, std::optional<std::uint32_t> index);
  boost::asio::awaitable<Result<PlanResult>> plan(JobSpec spec);
  boost::asio::awaitable<Result<Drained>> drain(bool on);

  struct LogPiece {
    Bytes bytes;
    std::uint64_t next_offset = 0;
    bool end = false;  ///< The task has ended and this is all of it.
  };
  /// What a task printed so far, from `offset`: from its seller while it runs, from here afterwards.
  /// Errors: `not_found`, `unavailable` (the seller cannot be reached now).
  boost::asio::awaitable<Result<LogPiece>> read_log(TaskId task, LogStream stream, std::uint64_t offset,
                                                    std::uint32_t bytes_max);

  /// Returns when the job changed, or after `timeout`.
  boost::asio::awaitable<void> wait_change(JobId job, Duration timeout);

  const Node& node() const;
  /// The nodes that this one knows, with the prices last heard of each.
  std::vector<PeerView> peers() const;
  const NodeIdentity& identity() const;
  Endpoint endpoint() const;
  const TransportStats& transport_stats() const;
  std::string isolation() const;
  /// Prometheus text format.
  std::string metrics() const;
  /// For the enrolment service, which shares port and identity.
  Transport& transport();

 private:
  struct Parts;
  explicit Agent(std::unique_ptr<Parts> parts);

  template <class Answered>
  boost::asio::awaitable<Result<Answered>> command(std::function<Event(RequestId)> make, Duration patience);

  std::unique_ptr<Parts> parts_;
};

}  // namespace abacus
