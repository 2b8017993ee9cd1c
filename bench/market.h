// Real agents in one process, on one thread: real TLS, real journals, real loopback sockets. One thread, so that the
// CPU of all ends is counted and a rate is a rate a core.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/agent/agent.h"
#include "runtime/recording/file_recorder.h"

namespace abacus::bench {

struct MarketOptions {
  std::size_t agents = 2;
  std::uint32_t cpus_each = 64;
  bool noop_executor = true;
  bool sellers_only_first = false;  ///< Agent 0 sells nothing to speak of: all placements go over the network.
  bool record = false;              ///< Each agent records what goes into its core.
};

class Market {
 public:
  explicit Market(MarketOptions options);
  ~Market();

  boost::asio::io_context& io() { return io_; }
  Agent& agent(std::size_t index) { return *agents_[index]; }
  std::size_t size() const { return agents_.size(); }
  /// Of all recordings so far, those bytes that are written.
  std::uint64_t recorded_bytes() const;

  /// Submits a job at an agent; `done` is called once it is in custody.
  void submit(std::size_t agent, JobSpec spec, std::function<void()> done);
  /// True when every job that this agent has in custody has ended.
  bool all_ended(std::size_t agent) const;

  /// Runs the loop until `done` holds. False after `limit_s` seconds.
  template <class Done>
  bool run_until(Done done, double limit_s);

 private:
  std::filesystem::path directory_;
  boost::asio::io_context io_{1};
  std::vector<std::unique_ptr<FileRecorder>> recorders_;
  std::vector<std::unique_ptr<Agent>> agents_;
};

/// A job of `tasks` no-op tasks of one CPU each.
JobSpec noop_job(std::uint32_t tasks);

double seconds_now();
double cpu_seconds_now();  ///< Of this process, all threads.

template <class Done>
bool Market::run_until(Done done, double limit_s) {
  double end = seconds_now() + limit_s;
  while (!done()) {
    if (seconds_now() > end) return false;
    io_.restart();
    io_.run_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace abacus::bench
