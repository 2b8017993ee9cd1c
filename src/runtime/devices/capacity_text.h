// The text in which an operator declares what an agent sells: `--capacity cpu=2,memory=4GiB,gpu=1:simulated-a100`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "runtime/devices/host_inventory.h"

namespace abacus {

/// Applies a declaration to what was found. Parts are separated by commas, each at most once:
///
///   cpu=2 | cpu=0.5          logical CPUs, to a thousandth
///   memory=4GiB disk=10GiB   sizes as in base/size.h
///   gpu=N                    any N of the devices found (also fpga=N, accel=N); 0 sells none
///   gpu=N:MODEL              N of the found model only, capitals ignored
///   gpu=N:simulated-NAME     N devices that do not exist, marked so; gpu=N:simulated-NAME:80GiB gives them memory
///
/// A kind may come several times with different models; the kind's found devices are then only those named. What is not
/// named stays as found. Declaring more than was found is an error: a promise the machine cannot keep. `!` after a cpu,
/// memory or disk value overrides that ("cpu=16!"), for who knows better than the probe or wants to overcommit.
///
/// Errors: `invalid`, naming the part, what is wrong with it, and what would be right.
Result<HostInventory> apply_capacity(std::string_view text, const HostInventory& found);

}  // namespace abacus
