// An executor that starts nothing: each attempt has started and ended when the loop comes round to it. What is left to
// measure is the market itself.
#pragma once

#include <boost/asio/post.hpp>
#include <set>

#include "runtime/exec/executor.h"

namespace abacus::bench {

class NoopExecutor final : public Executor {
 public:
  NoopExecutor(boost::asio::any_io_executor loop, ExecSink sink) : loop_(std::move(loop)), sink_(std::move(sink)) {}

  Status open_lease(const LeaseSpec&) override { return {}; }
  Status launch(const LaunchSpec& spec) override {
    boost::asio::post(loop_, [this, lease = spec.lease, attempt = spec.attempt] {
      sink_(AttemptStarted{lease, attempt, 0, WallTime{1}});
      ExitRecord record;
      record.exit_code = 0;
      sink_(AttemptEnded{lease, attempt, record});
    });
    return {};
  }
  Status interrupt(const AttemptId&, Duration) override { return {}; }
  Status forget(const AttemptId&) override { return {}; }
  Status close_lease(const LeaseId&) override { return {}; }
  Status extend_lease(const LeaseId&, WallTime) override { return {}; }
  Status end_lease(const LeaseId&) override { return {}; }
  void adopt(std::function<void(std::vector<FoundLease>)> done) override {
    boost::asio::post(loop_, [done = std::move(done)] { done({}); });
  }
  AttemptPaths paths(const LeaseId&, const AttemptId&) const override { return {}; }
  const IsolationReport& isolation() const override { return isolation_; }

 private:
  boost::asio::any_io_executor loop_;
  ExecSink sink_;
  IsolationReport isolation_;
};

}  // namespace abacus::bench
