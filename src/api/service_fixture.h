// For tests: a Service that remembers what it was asked and answers from tables, and a server that serves it.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "api/routes.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {

struct FakeJob {
  JobView view;
  SubmitRequest request;
  std::vector<TaskView> tasks;
  std::map<std::pair<std::uint32_t, LogStream>, std::string> logs;  ///< By index.

  void end_task(std::uint32_t position, TaskEnd end) {
    tasks.at(position).phase = TaskPhase::ended;
    tasks.at(position).end = std::move(end);
  }
  void end_all(const TaskEnd& end) {
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].end) end_task(i, end);
    }
    view.ended = true;
  }
};

class FakeService : public Service {
 public:
  /// Called on submission and then at each look at the job, with the number of looks so far.
  std::function<void(FakeJob&, int looks)> life = [](FakeJob&, int) {};
  std::function<Result<PlanResult>()> plan_answer = [] { return PlanResult{}; };
  std::vector<PeerView> known_peers;
  ExplainView explanation;
  AgentInfo about;
  bool stopped = false, stopped_with_work = false, drained = false;
  std::vector<std::string> calls;  ///< Names of the calls that change something.
  std::map<JobId, FakeJob> by_id;
  std::vector<JobId> order;

  FakeJob& only_job() { return by_id.at(order.back()); }

  Async<AgentInfo> info() override { co_return about; }

  Async<JobSubmitted> submit(SubmitRequest request) override {
    calls.push_back("submit");
    JobId id;
    id.bytes[5] = static_cast<std::uint8_t>(++submitted_);
    FakeJob& job = by_id[id];
    job.view.job = id;
    job.view.name = request.spec.name;
    job.view.command = request.spec.work.command;
    job.view.is_array = request.spec.is_array;
    job.view.deadline = request.spec.deadline;
    job.view.tasks = request.spec.array.size();
    for (std::uint32_t i = 0; i < job.view.tasks; ++i) {
      TaskView task;
      task.task = {id, request.spec.array.first + i * request.spec.array.step};
      task.attempt = 1;
      job.tasks.push_back(task);
    }
    job.request = std::move(request);
    order.push_back(id);
    life(job, 0);
    co_return JobSubmitted{id, job.view.tasks};
  }

  Async<JobCancelled> cancel(JobId id, std::optional<std::uint32_t> index) override {
    calls.push_back(index ? fmt::format("cancel {}", *index) : "cancel");
    auto job = by_id.find(id);
    if (job == by_id.end()) co_return fail(ErrorCode::not_found, "there is no job {}", id.to_string());
    TaskEnd end;
    end.kind = EndKind::cancelled;
    job->second.view.cancelled = true;
    job->second.end_all(end);
    co_return JobCancelled{id, job->second.view.tasks};
  }

  Async<PlanResult> plan(JobSpec) override { co_return plan_answer(); }
  Async<Drained> drain(bool on) override {
    drained = on;
    co_return Drained{on};
  }

  Async<std::vector<JobView>> jobs(std::uint32_t limit) override {
    std::vector<JobView> list;
    for (auto id = order.rbegin(); id != order.rend() && list.size() < limit; ++id) list.push_back(by_id.at(*id).view);
    co_return list;
  }
  Async<JobView> job(JobId id) override {
    auto job = by_id.find(id);
    if (job == by_id.end()) co_return fail(ErrorCode::not_found, "there is no job {}", id.to_string());
    life(job->second, ++looks_);
    co_return job->second.view;
  }
  Async<std::vector<TaskView>> tasks(JobId id, std::uint32_t offset, std::uint32_t limit) override {
    auto job = by_id.find(id);
    if (job == by_id.end()) co_return fail(ErrorCode::not_found, "there is no job {}", id.to_string());
    const auto& all = job->second.tasks;
    std::size_t first = std::min<std::size_t>(offset, all.size()),
                last = std::min<std::size_t>(first + limit, all.size());
    co_return std::vector<TaskView>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                    all.begin() + static_cast<std::ptrdiff_t>(last));
  }
  Async<TaskView> task(TaskId id) override {
    TaskView* found = find(id);
    if (!found) co_return fail(ErrorCode::not_found, "there is no task {}", id.to_string());
    co_return *found;
  }
  Async<ExplainView> explain(TaskId id) override {
    TaskView* found = find(id);
    if (!found) co_return fail(ErrorCode::not_found, "there is no task {}", id.to_string());
    ExplainView view = explanation;
    view.task = *found;
    co_return view;
  }
  Async<void> wait_change(JobId, Duration timeout) override {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                    std::chrono::nanoseconds(timeout.ns / 20));
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return Result<void>{};
  }
  Async<LogPiece> read_log(TaskId id, LogStream stream, std::uint64_t offset, std::size_t max_bytes) override {
    TaskView* found = find(id);
    if (!found) co_return fail(ErrorCode::not_found, "there is no task {}", id.to_string());
    const std::string& all = by_id.at(id.job).logs[{id.index, stream}];
    LogPiece piece;
    if (offset < all.size()) piece.bytes = all.substr(offset, max_bytes);
    piece.next_offset = offset + piece.bytes.size();
    piece.eof = found->end.has_value() && piece.next_offset >= all.size();
    co_return piece;
  }

  Async<std::vector<PeerView>> peers() override { co_return known_peers; }
  Async<SellingView> selling() override { co_return SellingView{}; }
  Async<std::vector<BoughtLeaseView>> bought_leases() override { co_return std::vector<BoughtLeaseView>{}; }
  Async<Counters> counters() override { co_return Counters{}; }
  Async<std::string> metrics() override { co_return std::string("abacus_placements_total 0\n"); }
  Async<EnrolToken> new_token(Duration ttl, std::uint32_t uses) override {
    EnrolToken token;
    token.token = "a-token";
    token.expires_at = WallTime{} + ttl;
    token.uses = uses;
    co_return token;
  }
  Async<void> shutdown(bool end_work) override {
    stopped = true;
    stopped_with_work = end_work;
    co_return Result<void>{};
  }

 private:
  TaskView* find(TaskId id) {
    auto job = by_id.find(id.job);
    if (job == by_id.end()) return nullptr;
    for (TaskView& task : job->second.tasks) {
      if (task.task == id) return &task;
    }
    return nullptr;
  }

  int submitted_ = 0;
  int looks_ = 0;
};

/// A handler served on a unix socket (and TCP where asked for) by a thread of its own, in a folder that goes with it.
class TestServer {
 public:
  explicit TestServer(HttpHandler handler, HttpLimits limits = {})
      : server_(context_.get_executor(), std::move(handler), limits) {}
  ~TestServer() { stop(seconds(1)); }

  std::string path() const { return folder_ / "agent.sock"; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  HttpTarget target() const { return UnixTarget{path()}; }

  Status listen_unix() { return server_.listen_unix(path()); }
  Result<Endpoint> listen_tcp(const std::string& endpoint, const std::string& token) {
    return server_.listen_tcp(Endpoint::parse(endpoint).value(), token);
  }
  void start() {
    thread_ = std::thread([this] { context_.run(); });
  }
  void stop(Duration grace) {
    if (!thread_.joinable()) return;
    boost::asio::co_spawn(context_, server_.stop(grace), boost::asio::use_future).get();
    guard_.reset();
    context_.stop();
    thread_.join();
  }

 private:
  TemporaryDirectory folder_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_ = make_work_guard(context_);
  HttpServer server_;
  std::thread thread_;
};

/// The usual case: a FakeService behind the API on a unix socket.
struct ServedFake {
  FakeService service;
  TestServer server{make_api_handler(service, [] { return WallTime{} + hours(24 * 365 * 50); })};

  /// Starts to serve; set the service up before.
  void start() {
    if (!server.listen_unix()) std::abort();
    server.start();
  }
};

}  // namespace abacus
