// Checks of a submission beyond the ranges of its single values.
#include "core/buying/validate_job.h"

#include "protocol/limits.h"

namespace abacus {

Status validate_for_custody(const JobSpec& spec) {
  TRY_STATUS(validate(spec.array));
  TRY_STATUS(validate(spec));
  TRY_STATUS(validate(spec.work));
  TRY_STATUS(validate(spec.bundle));
  if (spec.bundle.cpu_milli == 0 && spec.bundle.memory_bytes == 0 && spec.bundle.devices.empty()) {
    return fail(ErrorCode::invalid, "the bundle needs nothing: want some CPU, memory or a device");
  }
  for (Duration time : {spec.expected_run, spec.lost_after, spec.work.grace, spec.work.time_limit}) {
    if (time < Duration{} || time > hours(24 * 365)) {
      return fail(ErrorCode::invalid, "a time of {} ns: want none to a year", time.ns);
    }
  }
  if (spec.urgency.micro_per_s > 1'000'000'000'000) {
    return fail(ErrorCode::invalid, "urgency of {}: want a million credits a second at most", to_string(spec.urgency));
  }
  if (spec.budget && *spec.budget > Money{limits::kMaxMoneyMicro}) {
    return fail(ErrorCode::invalid, "budget of {}: the limit is {}", to_string(*spec.budget),
                to_string(Money{limits::kMaxMoneyMicro}));
  }
  return {};
}

}  // namespace abacus
