// Test help: an executor with a folder of its own, driven until what a test waits for has happened.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/exec/process_executor.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Zombies count as gone.
inline bool process_lives(pid_t pid) {
  std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  std::size_t close = stat.rfind(')');
  return close != std::string::npos && stat[close + 2] != 'Z' && stat[close + 2] != 'X';
}

class ExecutorFixture : public ::testing::Test {
 protected:
  ExecutorFixture() : report_(probe_isolation()) { make_executor(); }

  ~ExecutorFixture() override {
    executor_.reset();
    // Whatever a failed test left running dies with its lease.
    make_executor();
    for (const FoundLease& adopted : adopt()) EXPECT_TRUE(executor_->end_lease(adopted.lease));
    EXPECT_TRUE(until([&] { return std::filesystem::is_empty(root_); })) << "leases are left in " << root_;
    executor_.reset();
  }

  void make_executor() {
    executor_.reset();
    ProcessExecutorOptions options{root_, default_shim_program(), orphan_limit_, answer_limit_, report_};
    executor_ =
        std::make_unique<ProcessExecutor>(io_.get_executor(), options, [this](ExecEvent event) { note(event); });
  }

  void note(const ExecEvent& event) {
    if (auto* started = std::get_if<AttemptStarted>(&event)) started_[started->attempt] = *started, ++starts_;
    if (auto* ended = std::get_if<AttemptEnded>(&event)) ended_[ended->attempt] = ended->record, ++ends_;
    if (auto* lost = std::get_if<LeaseLost>(&event)) lost_.push_back(*lost);
    if (auto* closed = std::get_if<LeaseRemoved>(&event)) closed_.push_back(closed->lease);
  }

  /// Drives the executor until `done` holds; false after the limit.
  template <class F>
  bool until(F done, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io_.restart();
      io_.run_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  LeaseId open(std::uint32_t slots = 4, Duration until_end = minutes(10)) {
    static std::uint8_t next = 1;
    LeaseSpec spec;
    spec.lease.bytes = {0xab, next++, static_cast<std::uint8_t>(::getpid()),
                        static_cast<std::uint8_t>(::getpid() >> 8)};
    auto now = std::chrono::system_clock::now().time_since_epoch();
    spec.deadline = WallTime{std::chrono::nanoseconds(now).count()} + until_end;
    spec.slots = slots;
    Status opened = executor_->open_lease(spec);
    EXPECT_TRUE(opened) << opened.error().message;
    return spec.lease;
  }

  static AttemptId attempt(std::uint32_t index) {
    AttemptId id;
    id.task.job.bytes = {1, 2, 3, 4, 5, 6};
    id.task.index = index;
    id.number = 1;
    return id;
  }

  static LaunchSpec command(const LeaseId& lease, std::uint32_t index, std::vector<std::string> argv) {
    LaunchSpec spec;
    spec.lease = lease;
    spec.attempt = attempt(index);
    spec.argv = std::move(argv);
    spec.env = {"PATH=/usr/bin:/bin"};
    spec.limits = Limits::none;
    spec.grace = milliseconds(300);
    return spec;
  }

  static LaunchSpec shell(const LeaseId& lease, std::uint32_t index, const std::string& script) {
    return command(lease, index, {"/bin/bash", "-c", script});
  }

  void launch(const LaunchSpec& spec) {
    Status status = executor_->launch(spec);
    ASSERT_TRUE(status) << status.error().message;
  }

  /// Launches and waits for the end.
  ExitRecord run(const LaunchSpec& spec) {
    ended_.erase(spec.attempt);
    launch(spec);
    EXPECT_TRUE(until([&] { return ended_.contains(spec.attempt); })) << spec.attempt.to_string() << " did not end";
    return ended_[spec.attempt];
  }

  std::vector<FoundLease> adopt() {
    std::optional<std::vector<FoundLease>> result;
    executor_->adopt([&](std::vector<FoundLease> leases) { result = std::move(leases); });
    EXPECT_TRUE(until([&] { return result.has_value(); }));
    return result.value_or(std::vector<FoundLease>{});
  }

  std::string out(const LeaseId& lease, std::uint32_t index) {
    return read_file(executor_->paths(lease, attempt(index)).out);
  }

  /// A number that the task printed, once it has.
  pid_t printed_pid(const LeaseId& lease, std::uint32_t index) {
    EXPECT_TRUE(until([&] { return out(lease, index).ends_with('\n'); }));
    return std::atoi(out(lease, index).c_str());
  }

  /// The cgroup directories of a lease that still exist.
  std::vector<std::string> cgroups(const LeaseId& lease) {
    std::vector<std::string> found;
    for (const CgroupBranch& branch : report_.branches) {
      std::string path = branch.path + "/" + lease.to_string();
      if (std::filesystem::exists(path)) found.push_back(path);
    }
    return found;
  }

  boost::asio::io_context io_;
  TemporaryDirectory directory_;
  std::string root_ = directory_.path();
  IsolationReport report_;
  Duration orphan_limit_ = minutes(5);
  Duration answer_limit_ = seconds(30);
  std::unique_ptr<ProcessExecutor> executor_;
  std::map<AttemptId, AttemptStarted> started_;
  std::map<AttemptId, ExitRecord> ended_;
  std::vector<LeaseLost> lost_;
  std::vector<LeaseId> closed_;
  int starts_ = 0;
  int ends_ = 0;
};

}  // namespace abacus
