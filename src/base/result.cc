// Names of error codes, and context for errors.
#include "base/result.h"

#include "base/check.h"

namespace abacus {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid: return "invalid";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::already_exists: return "already_exists";
    case ErrorCode::denied: return "denied";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::exhausted: return "exhausted";
    case ErrorCode::timed_out: return "timed_out";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::internal: return "internal";
  }
  CHECK_MSG(false, "error code out of range");
  return "";
}

Error Error::in(std::string_view context) const { return {code, fmt::format("{}: {}", context, message)}; }

}  // namespace abacus
