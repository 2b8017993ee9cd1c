// Exit codes: the task's own, 128 + signal, and a few of our own that say why there is none.
#pragma once

#include <optional>

#include "base/result.h"
#include "protocol/job.h"

namespace abacus {

inline constexpr int kExitFailure = 1;        ///< Of sim: a run was not as it should be.
inline constexpr int kExitUsage = 2;          ///< Wrong flags, or a job that is not well formed.
inline constexpr int kExitUnplaceable = 120;  ///< Nobody can or will run it.
inline constexpr int kExitTime = 121;         ///< Time limit, deadline, or `wait --timeout`.
inline constexpr int kExitUnreachable = 122;  ///< No agent there.
inline constexpr int kExitOther = 123;        ///< Lost, cancelled, failed to start, and any other error.
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C, as shells say it.

/// `deadline`: the job's, which tells "too late" from "nowhere".
int exit_code_of(const TaskEnd& end, const std::optional<WallTime>& deadline);

int exit_code_of(const Error& error);

}  // namespace abacus
