// Finds out what this machine has, from what the kernel and the drivers show.
#pragma once

#include <string>

#include "base/time.h"
#include "runtime/devices/host_inventory.h"

namespace abacus {

struct ProbeOptions {
  std::string root = "/";                ///< Where proc, sys, dev and usr lie; a made-up machine in tests.
  std::string disk_directory = "/";      ///< Whose free space counts. Not below `root`.
  Duration program_limit = seconds(10);  ///< For nvidia-smi, which can hang on a broken GPU.
};

/// Blocking; as long as `program_limit` at worst, milliseconds where no NVIDIA driver is loaded. Needs no privilege.
/// What cannot be read counts as not there, with a note where that is a surprise.
///
/// CPUs: Cpus_allowed_list of /proc/self/status, no more than the CPU quotas of the own cgroup and those above it.
/// Memory: MemTotal, no more than the limits of the own cgroup and those above it.
HostInventory probe_host(const ProbeOptions& options);

}  // namespace abacus
