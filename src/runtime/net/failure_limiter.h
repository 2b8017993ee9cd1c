// Counts failed attempts for each address in windows of a minute. Pure: time is passed in.
#pragma once

#include <map>
#include <string>

#include "base/time.h"

namespace abacus {

class FailureLimiter {
 public:
  /// At most so many failures in one minute: from one address, and from all together.
  FailureLimiter(int per_address, int altogether) : per_address_(per_address), altogether_(altogether) {}

  /// False when this address, or everybody, has used up this minute's failures.
  bool allows(const std::string& address, MonoTime now);

  void failed(const std::string& address, MonoTime now);

 private:
  void turn(MonoTime now);

  int per_address_, altogether_;
  int total_ = 0;
  MonoTime window_end_;
  std::map<std::string, int> failures_;  // of this minute; at most `altogether_` addresses
};

}  // namespace abacus
