// Checks of a submission beyond the ranges of its single values.
#include "core/buying/validate_job.h"

#include "protocol/codec.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

/// What the codec would not read back must not get into the journal or into a message to a seller.
Status check_readable(const JobSpec& spec) {
  constexpr std::size_t kSpecBytes = limits::kMessageBytes / 2;
  const Bytes encoded = encode(spec);
  if (encoded.size() > kSpecBytes) {
    return fail(ErrorCode::invalid, "the job's description has {} bytes: want at most {}; ship large parts as inputs",
                encoded.size(), kSpecBytes);
  }
  auto again = decode<JobSpec>(encoded);
  return again ? Status{} : fail(ErrorCode::invalid, "{}", again.error().message);
}

}  // namespace

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
  return check_readable(spec);
}

}  // namespace abacus
