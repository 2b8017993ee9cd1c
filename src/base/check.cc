// Where a failed CHECK ends.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace abacus {

void check_failed(const char* file, int line, const char* what, std::string_view detail) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s", file, line, what);
  if (!detail.empty()) std::fprintf(stderr, " (%.*s)", static_cast<int>(detail.size()), detail.data());
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace abacus
