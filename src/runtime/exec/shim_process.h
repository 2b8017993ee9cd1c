// Starting shims, and clearing away what one leaves when it dies: its processes, its cgroups, its files.
#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/exec/executor.h"

namespace abacus {

/// Starts `program` for a lease in `directory`, in a session of its own, with `listen_fd` as its socket; the caller
/// closes its own copy. Returns the pid. Errors: `unavailable`, naming the program and the reason.
Result<pid_t> start_shim(const std::string& program, const LeaseSpec& spec, const std::string& directory,
                         Duration orphan_limit, const std::vector<CgroupBranch>& branches, int listen_fd);

/// Collects the exit status of a child once it ends, so that no zombie stays; harmless for a process that is no child.
/// Then calls `then`, unless the io_context ends before.
void reap_when_ended(const boost::asio::any_io_executor& executor, pid_t pid, std::function<void()> then = {});

/// Deletes a folder tree through a program of its own, since it may be large. Then calls `then`, as reap_when_ended
/// does.
void delete_in_background(const boost::asio::any_io_executor& executor, const std::string& path,
                          std::function<void()> then);

/// What a restarted agent needs to clear away a lease whose shim cannot tell any more: kept beside the lease.
struct ShimNote {
  pid_t pid = 0;
  std::vector<CgroupBranch> branches;
};

/// False with errno set.
bool write_shim_note(const std::string& directory, const ShimNote& note);

/// What can be read; empty for a missing or damaged note.
ShimNote read_shim_note(const std::string& directory);

/// SIGKILL to the lease's shim, if `pid` is (still) its process.
void kill_shim(pid_t pid, const LeaseId& lease);

/// Kills whatever still runs of a lease: the members of its cgroups, or, where the host gave it none, the processes
/// that carry its mark in their environment. Returns how many were found; call again until 0.
std::size_t kill_lease_processes(const std::vector<CgroupBranch>& branches, const LeaseId& lease);

/// Removes the lease's cgroups once they are empty.
void remove_lease_cgroups(const std::vector<CgroupBranch>& branches, const LeaseId& lease);

}  // namespace abacus
