// Asks NVIDIA's own program for the names and memory of the GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace abacus {

struct NvidiaGpu {
  std::uint32_t index = 0;
  std::string bus_id;  ///< As the kernel writes it: "0000:65:00.0", lower case.
  std::string name;
  std::uint64_t memory_bytes = 0;

  bool operator==(const NvidiaGpu&) const = default;
};

/// The program's answer, a line a GPU: "0, 00000000:65:00.0, NVIDIA A100-SXM4-40GB, 40960" (MiB). Lines that are
/// different are skipped. Pure.
std::vector<NvidiaGpu> parse_nvidia_smi(std::string_view text);

/// Runs `program` and parses. Errors: `unavailable` when it cannot be started or fails; `timed_out` after `limit`, when
/// it is killed.
Result<std::vector<NvidiaGpu>> query_nvidia_smi(const std::string& program, Duration limit);

}  // namespace abacus
