// The shim's turn: events, timers, sweep, one sync, reports.
#include "runtime/exec/shim/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runtime/exec/shim/clock.h"
#include "runtime/exec/shim/launch.h"
#include "runtime/exec/shim/processes.h"

namespace abacus::shim {
namespace {

constexpr int kEventsPerTurn = 64;
constexpr std::size_t kScratchBytes = 64 * 1024;
constexpr std::size_t kUnforgottenMax = 100'000;  ///< Records kept for an agent that never forgets.
constexpr Duration kRetry = milliseconds(10);     ///< Between looks at processes that are being killed.
constexpr Duration kLongestSleep = seconds(60);   ///< The wall clock may jump, so the lease's end is looked at anew.
const char kRecordsFile[] = "records";

bool has_nul(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [](const auto& text) { return text.find('\0') != std::string::npos; });
}

bool plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name[0] != '-' && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos && name != kRecordsFile;
}

/// posix_spawn leaves the C library's own two signals ignored; a task shall start with none ignored, and the library's
/// sigaction refuses to touch them.
void reset_library_signals() {
  unsigned long action[8] = {};  // The kernel's sigaction, all zero: the default, no flags, no mask.
  for (int signal : {32, 33}) ::syscall(SYS_rt_sigaction, signal, action, nullptr, 8);
}

/// The soft limit on open files raised to the hard one; returns the former for tasks.
std::uint64_t raise_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      cgroups_(options_.branches, options_.lease_text, options_.slots),
      folders_(options_.slots, janitor_),
      alone_since_(wall_now()),
      scratch_(kScratchBytes) {}

Server::~Server() {
  for (int fd : {epoll_fd_, signal_fd_, null_fd_}) {
    if (fd >= 0) ::close(fd);
  }
}

int Server::run() {
  if (!set_up()) return 1;
  while (!done()) turn();
  leave();
  return 0;
}

bool Server::set_up() {
  open_files_max_ = raise_open_files();
  reset_library_signals();
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGCHLD);
  ::sigaddset(&wanted, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &wanted, nullptr);
  signal_fd_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  epoll_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
  null_fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  bool ready = signal_fd_ >= 0 && epoll_fd_ >= 0 && null_fd_ >= 0 && ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  if (!ready || !log_.open(kRecordsFile)) {
    std::fprintf(stderr, "abacus-shim: lease %s cannot begin in '%s': %s\n", options_.lease_text.c_str(),
                 options_.directory.c_str(), std::strerror(errno));
    return false;
  }
  watch(signal_fd_, EPOLLIN);
  watch(options_.listen_fd, EPOLLIN);
  return true;
}

void Server::watch(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) ::epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
}

void Server::turn() {
  epoll_event events[kEventsPerTurn];
  int count = ::epoll_wait(epoll_fd_, events, kEventsPerTurn, timeout_ms(mono_now()));
  for (int i = 0; i < count; ++i) dispatch(events[i].data.fd, events[i].events);
  MonoTime now = mono_now();
  run_timers(now);
  sweep(now);
  commit();
  flush_agent();
}

/// A descriptor number may have been closed and reused within this turn; every handler copes with finding nothing.
void Server::dispatch(int fd, std::uint32_t events) {
  if (fd == signal_fd_) {
    reap();
  } else if (fd == options_.listen_fd) {
    accept_agent();
  } else if (fd == agent_.fd()) {
    serve_agent(events);
  } else {
    drain(fd);
  }
}

int Server::timeout_ms(MonoTime now) const {
  Duration wait = kLongestSleep;
  for (const auto& [attempt, task] : tasks_) {
    if (!task->running()) wait = std::min(wait, kRetry);
    if (task->next_timer() != kNever) wait = std::min(wait, std::max(task->next_timer() - now, kRetry));
  }
  if (!uncommitted_.empty()) wait = std::min(wait, kRetry * 10);
  if (!agent_.connected()) wait = std::min(wait, std::max(orphan_end() - wall_now(), kRetry));
  return static_cast<int>(std::max<std::int64_t>(wait.ms() + 1, 0));
}

WallTime Server::orphan_end() const { return std::max(options_.deadline, alone_since_) + options_.orphan_limit; }

void Server::accept_agent() {
  int fd = ::accept4(options_.listen_fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (!known || (peer.uid != ::geteuid() && peer.uid != 0)) {
    ::close(fd);
    return;
  }
  agent_.open(fd);
  greeted_ = false;
  watch(fd, EPOLLIN);
}

void Server::drop_agent() {
  agent_.close();
  alone_since_ = wall_now();
}

void Server::serve_agent(std::uint32_t events) {
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !agent_.congested() && !agent_.receive()) return drop_agent();
  while (auto message = agent_.next()) {
    handle(*message);
    if (!agent_.connected()) return;
  }
  if (!agent_.broken()) return;
  agent_.send(wire::Refused{"these bytes are no message of protocol version " + std::to_string(wire::kVersion)});
  agent_.flush();
  drop_agent();
}

void Server::flush_agent() {
  if (!agent_.connected()) return;
  if (!agent_.flush()) return drop_agent();
  watch(agent_.fd(), (agent_.congested() ? 0u : EPOLLIN) | (agent_.has_pending() ? EPOLLOUT : 0u));
}

void Server::handle(const wire::Message& message) {
  if (auto* hello = std::get_if<wire::Hello>(&message)) return handle_hello(*hello);
  if (!greeted_) {
    agent_.send(wire::Refused{"the first message must be Hello"});
    agent_.flush();
    return drop_agent();
  }
  if (auto* order = std::get_if<wire::Launch>(&message)) handle_launch(*order);
  if (auto* forget = std::get_if<wire::Forget>(&message)) handle_forget(*forget);
  if (auto* extend = std::get_if<wire::Extend>(&message)) {
    options_.deadline = std::max(options_.deadline, extend->deadline);
  }
  if (auto* close = std::get_if<wire::Close>(&message)) handle_close(*close);
  if (auto* interrupt = std::get_if<wire::Interrupt>(&message)) {
    auto task = tasks_.find(interrupt->attempt);
    if (task != tasks_.end()) task->second->interrupt(mono_now(), interrupt->grace);
  }
}

void Server::handle_hello(const wire::Hello&) {
  greeted_ = true;
  agent_.send(wire::Hello{wire::kVersion, options_.lease, static_cast<std::uint32_t>(::getpid())});
  for (const auto& [attempt, task] : tasks_) {
    agent_.send(wire::Started{attempt, static_cast<std::uint32_t>(task->pid()), task->started()});
  }
  for (const auto& [attempt, record] : log_.records()) {
    if (!uncommitted_.contains(attempt)) agent_.send(wire::Ended{attempt, record});
  }
  agent_.send(wire::Listed{});
}

void Server::handle_launch(const wire::Launch& order) {
  if (auto task = tasks_.find(order.attempt); task != tasks_.end()) {
    agent_.send(wire::Started{order.attempt, static_cast<std::uint32_t>(task->second->pid()), task->second->started()});
  } else if (auto record = log_.records().find(order.attempt); record != log_.records().end()) {
    if (!uncommitted_.contains(order.attempt)) agent_.send(wire::Ended{order.attempt, record->second});
  } else if (std::string reason = refusal(order); !reason.empty()) {
    ExitRecord refused;
    refused.started = refused.ended = wall_now();
    refused.launch_error = reason;
    log_.add(order.attempt, refused);
    uncommitted_.insert(order.attempt);
  } else {
    start(order);
  }
}

std::string Server::refusal(const wire::Launch& order) const {
  if (closing_ || stopping_) return "the lease is closing and takes no more tasks";
  if (order.argv.empty() || order.argv[0].empty()) return "no command given";
  if (!plain_name(order.folder)) return "'" + order.folder + "' cannot name an attempt's folder";
  if (has_nul(order.argv) || has_nul(order.env)) return "an argument or environment entry contains a zero byte";
  if (tasks_.size() >= options_.slots) {
    return "all " + std::to_string(options_.slots) + " slots of the lease are busy";
  }
  if (log_.records().size() >= kUnforgottenMax) {
    return std::to_string(kUnforgottenMax) + " ended attempts wait to be forgotten; no more are taken";
  }
  return {};
}

void Server::start(const wire::Launch& order) {
  auto made = std::make_unique<Task>(order, "ABACUS_SHIM_TASK=" + options_.lease_text + "/" + order.folder);
  Task& task = *made;
  std::string error;
  std::unique_ptr<TaskCgroup> group;
  if (order.limits && cgroups_.available()) {
    group = cgroups_.acquire({order.cpu_milli, order.memory_bytes, order.pids_max}, error);
  }
  if (!error.empty() || !task.start(order, std::move(group), folders_, null_fd_, open_files_max_)) {
    ExitRecord record = task.record();
    if (!error.empty()) record.launch_error = error, record.started = record.ended = wall_now();
    if (auto used = task.take_group()) cgroups_.release(std::move(used));
    log_.add(order.attempt, record);
    uncommitted_.insert(order.attempt);
    return;
  }
  for (CappedFile* file : {&task.out(), &task.err()}) {
    pipes_[file->pipe_fd()] = &task;
    watch(file->pipe_fd(), EPOLLIN);
  }
  mains_[task.pid()] = &task;
  tasks_[order.attempt] = std::move(made);
  agent_.send(wire::Started{order.attempt, static_cast<std::uint32_t>(task.pid()), task.started()});
}

void Server::handle_forget(const wire::Forget& forget) {
  if (tasks_.contains(forget.attempt) || uncommitted_.contains(forget.attempt) || !plain_name(forget.folder)) return;
  log_.forget(forget.attempt);
  folders_.remove(forget.folder);
  for (const char* suffix : {".stdout", ".stderr"}) {
    if (::access((forget.folder + suffix).c_str(), F_OK) == 0) janitor_.remove(forget.folder + suffix);
  }
}

void Server::handle_close(const wire::Close& close) {
  closing_ = true;
  if (!close.kill) return;
  discard_ = true;
  for (auto& [attempt, task] : tasks_) task->interrupt(mono_now(), {});
}

void Server::drain(int fd) {
  auto entry = pipes_.find(fd);
  if (entry == pipes_.end()) return;
  Task& task = *entry->second;
  CappedFile& file = task.out().pipe_fd() == fd ? task.out() : task.err();
  if (!file.drain(scratch_)) pipes_.erase(entry);
}

void Server::reap() {
  signalfd_siginfo info{};
  while (::read(signal_fd_, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGTERM) stop_all();
  }
  siginfo_t ended{};
  while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
    pid_t pid = ended.si_pid;
    auto main = mains_.find(pid);
    Task* task = main != mains_.end() ? main->second : owner_of(pid);
    if (main != mains_.end()) task->on_main_exit(mono_now());
    int status = 0;
    rusage usage{};
    ::wait4(pid, &status, 0, &usage);
    if (task != nullptr) task->on_reaped(pid, status, usage);
    if (main != mains_.end()) mains_.erase(main);
    ended.si_pid = 0;
  }
}

Task* Server::owner_of(pid_t orphan) {
  for (auto& [attempt, task] : tasks_) {
    if (task->claims_orphan(orphan)) return task.get();
  }
  return nullptr;
}

std::vector<pid_t> Server::orphans() const {
  std::vector<pid_t> found = children_of(::getpid());
  std::erase_if(found, [&](pid_t pid) { return mains_.contains(pid); });
  return found;
}

void Server::sweep(MonoTime now) {
  bool any = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& entry) { return !entry.second->running(); });
  if (!any) return;
  std::vector<pid_t> loose = orphans();
  for (auto entry = tasks_.begin(); entry != tasks_.end();) {
    Task& task = *entry->second;
    if (!task.sweep(now, loose)) {
      ++entry;
      continue;
    }
    finish(task);
    entry = tasks_.erase(entry);
  }
  if (!tasks_.empty()) return;
  // With no task left, whoever hid its origin (own session, own environment) cannot belong to a running neighbour.
  for (pid_t pid : orphans()) ::kill(pid, SIGKILL);
}

void Server::finish(Task& task) {
  pipes_.erase(task.out().pipe_fd());
  pipes_.erase(task.err().pipe_fd());
  log_.add(task.attempt(), task.finish(scratch_));
  uncommitted_.insert(task.attempt());
  if (auto group = task.take_group()) cgroups_.release(std::move(group));
}

void Server::run_timers(MonoTime now) {
  if (!agent_.connected() && wall_now() >= orphan_end()) stop_all();
  for (auto& [attempt, task] : tasks_) {
    if (task->next_timer() <= now) task->on_timer(now);
  }
}

/// All that ended in this turn share one sync; only then are they reported.
void Server::commit() {
  if (uncommitted_.empty() || !log_.commit()) return;
  for (const AttemptId& attempt : uncommitted_) agent_.send(wire::Ended{attempt, log_.records().at(attempt)});
  uncommitted_.clear();
}

void Server::stop_all() {
  if (stopping_) return;
  stopping_ = true;
  for (auto& [attempt, task] : tasks_) task->interrupt(mono_now());
}

bool Server::done() const {
  if (!tasks_.empty()) return false;
  if (discard_) return true;
  if (!uncommitted_.empty()) return false;
  return stopping_ || (closing_ && log_.records().empty());
}

void Server::leave() {
  for (int round = 0; round < 100 && !orphans().empty(); ++round) {
    for (pid_t pid : orphans()) ::kill(pid, SIGKILL);
    ::usleep(1000);
    reap();
  }
  flush_agent();
  cgroups_.remove_all();
  // What nobody has collected stays for the agent's return.
  if (!discard_ && !(closing_ && log_.records().empty())) return;
  janitor_.remove(options_.directory);  // After what it still has to do; its end is waited for.
}

}  // namespace abacus::shim
