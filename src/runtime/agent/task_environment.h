// The environment that a task sees: what the job asked for, and who and where it is.
#pragma once

#include <string>
#include <vector>

#include "core/model/effects.h"

namespace abacus {

/// "NAME=VALUE" lines, the whole environment: PATH, HOME and TMPDIR (the working directory) by default, then the job's
/// own variables, then ABACUS_JOB_ID, ABACUS_TASK_INDEX, ABACUS_ATTEMPT, ABACUS_NODE, ABACUS_REGION, and
/// CUDA_VISIBLE_DEVICES when GPUs were given. A job cannot override the ABACUS_ ones.
std::vector<std::string> task_environment(const Launch& launch, const NodeId& node, const std::string& region,
                                          const std::string& work_dir);

}  // namespace abacus
