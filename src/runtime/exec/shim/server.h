// The shim's loop: one agent at a time on a socket, any number of tasks up to the lease's slots.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/exec/record_log.h"
#include "runtime/exec/shim/connection.h"
#include "runtime/exec/shim/janitor.h"
#include "runtime/exec/shim/task.h"
#include "runtime/exec/shim/task_cgroup.h"
#include "runtime/exec/shim/work_folders.h"

namespace abacus::shim {

/// What the agent fixes when it opens the lease.
struct ServerOptions {
  LeaseId lease;
  std::string lease_text;  ///< The lease's id as text: names its cgroups and marks its processes.
  std::string directory;   ///< The lease's directory, absolute; also the working directory.
  int listen_fd = -1;
  WallTime deadline;      ///< The lease's end.
  Duration orphan_limit;  ///< How long past its end it waits for an agent.
  std::uint32_t slots = 1;
  std::vector<CgroupBranch> branches;
};

/// Lives until the agent closes the lease, or nobody came for orphan_limit after its end. While an agent is connected,
/// the agent alone decides about the lease's end.
class Server {
 public:
  explicit Server(ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Runs to the end. Returns the exit status of the program: 0, or 1 when it could not begin.
  int run();

 private:
  bool set_up();
  void turn();
  void dispatch(int fd, std::uint32_t events);
  int timeout_ms(MonoTime now) const;
  WallTime orphan_end() const;

  void accept_agent();
  void drop_agent();
  void serve_agent(std::uint32_t events);
  void flush_agent();
  void handle(const wire::Message& message);
  void handle_hello(const wire::Hello& hello);
  void handle_launch(const wire::Launch& order);
  void handle_forget(const wire::Forget& forget);
  void handle_close(const wire::Close& close);

  std::string refusal(const wire::Launch& order) const;
  void start(const wire::Launch& order);
  void drain(int fd);
  void watch(int fd, std::uint32_t events);
  void reap();
  Task* owner_of(pid_t orphan);
  std::vector<pid_t> orphans() const;
  void sweep(MonoTime now);
  void run_timers(MonoTime now);
  void finish(Task& task);
  void commit();
  void stop_all();
  bool done() const;
  void leave();

  ServerOptions options_;
  TaskCgroups cgroups_;
  RecordLog log_;
  Janitor janitor_;
  WorkFolders folders_;
  Connection agent_;
  bool greeted_ = false;
  WallTime alone_since_;
  std::map<AttemptId, std::unique_ptr<Task>> tasks_;
  std::map<pid_t, Task*> mains_;
  std::map<int, Task*> pipes_;
  std::set<AttemptId> uncommitted_;  ///< Ended, their records not on disk yet.
  std::vector<char> scratch_;
  int epoll_fd_ = -1;
  int signal_fd_ = -1;
  int null_fd_ = -1;
  std::uint64_t open_files_max_ = 1024;
  bool closing_ = false;   ///< No more launches.
  bool discard_ = false;   ///< Closed with `kill`: nothing is kept.
  bool stopping_ = false;  ///< The lease ended, or SIGTERM came: end tasks, keep records, exit.
};

}  // namespace abacus::shim
