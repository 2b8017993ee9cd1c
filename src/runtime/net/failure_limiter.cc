// Counting stops at the limit of the window, which bounds the table too.
#include "runtime/net/failure_limiter.h"

namespace abacus {

void FailureLimiter::turn(MonoTime now) {
  if (now < window_end_) return;
  window_end_ = now + minutes(1);
  failures_.clear();
  total_ = 0;
}

bool FailureLimiter::allows(const std::string& address, MonoTime now) {
  turn(now);
  auto found = failures_.find(address);
  return total_ < altogether_ && (found == failures_.end() || found->second < per_address_);
}

void FailureLimiter::failed(const std::string& address, MonoTime now) {
  turn(now);
  if (total_ >= altogether_) return;
  ++total_;
  ++failures_[address];
}

}  // namespace abacus
