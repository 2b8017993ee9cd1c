// Accelerators, from sysfs, procfs and nvidia-smi. See probe.h for the rules common to all probing.
#pragma once

#include "runtime/devices/probe.h"

namespace abacus {

/// Adds to `inventory`:
/// - NVIDIA GPUs that the driver shows in /proc/driver/nvidia/gpus; name and memory from nvidia-smi if it answers;
/// - AMD GPUs that the compute driver shows in /sys/class/kfd/kfd/topology;
/// - Intel GPUs with a render node in /sys/class/drm;
/// - FPGAs in /sys/class/fpga_manager, other accelerators in /sys/class/accel.
/// GPUs of these makers on the PCI bus that no driver shows are noted, not counted.
void probe_devices(const ProbeOptions& options, HostInventory& inventory);

}  // namespace abacus
