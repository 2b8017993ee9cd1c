// Where a task's outputs go at its custodian, from the job's `output_dir`.
#pragma once

#include <string>

#include "base/ids.h"
#include "protocol/job.h"

namespace abacus {

/// Stands for the job's id in JobSpec::output_dir, which is written before the id is drawn.
inline constexpr char kJobIdPlaceholder[] = "{job}";

/// The folder for the outputs of one task: `output_dir` with the placeholder filled in, and for arrays a folder named
/// by the index below it. Empty if the job wants no outputs written.
std::string output_dir_of(const JobSpec& spec, const TaskId& task);

}  // namespace abacus
