// Always-on assertions: a failed CHECK is a bug in this program, never a condition of the outside world.
#pragma once

#include <string_view>

namespace abacus {

/// Prints `file:line: CHECK failed: what (detail)` to stderr and aborts. Used through the macros below.
[[noreturn]] void check_failed(const char* file, int line, const char* what, std::string_view detail);

}  // namespace abacus

/// Aborts unless `condition` holds. On in every build.
#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::abacus::check_failed(__FILE__, __LINE__, #condition, {}))

/// CHECK with a sentence for whoever reads the crash.
#define CHECK_MSG(condition, detail) \
  ((condition) ? static_cast<void>(0) : ::abacus::check_failed(__FILE__, __LINE__, #condition, (detail)))
