// What a job must be like to be taken into custody.
#pragma once

#include "protocol/job.h"

namespace abacus {

/// Errors: `invalid`, naming the field and what would be right.
Status validate_for_custody(const JobSpec& spec);

}  // namespace abacus
