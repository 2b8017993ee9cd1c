// Operating errors as values. A bug is a CHECK (base/check.h), an error of the outside world is a Result.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace abacus {

/// Chosen by what the caller should do, not by where it happened.
enum class ErrorCode {
  invalid,         ///< The request is wrong: mend it; repeating it is useless.
  not_found,       ///< The thing named does not exist (any more).
  already_exists,  ///< Somebody or something holds that name, port or folder.
  denied,          ///< Not allowed for this caller.
  unavailable,     ///< Try again later, perhaps elsewhere.
  exhausted,       ///< A limit or a budget is used up.
  timed_out,       ///< No answer within the limit; the effect is unknown.
  corrupt,         ///< Stored or received bytes are not what they claim to be.
  unsupported,     ///< This host or this version cannot do it.
  internal,        ///< The operating system or a library failed in a way nobody can act on.
};

/// Lower-case name of a code, as in JSON output ("not_found").
const char* to_string(ErrorCode code);

/// What went wrong, where, and what would be right, in one sentence for people.
struct Error {
  ErrorCode code;
  std::string message;

  /// The same error with "context: " put in front of the sentence.
  Error in(std::string_view context) const;
};

/// Either a value or an Error. Ignoring one is a compile error.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

/// `return fail(ErrorCode::invalid, "port {} is taken", port);`
template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// Passes on somebody else's error.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace abacus

#define ABACUS_CONCAT_IMPL(a, b) a##b
#define ABACUS_CONCAT(a, b) ABACUS_CONCAT_IMPL(a, b)

/// `TRY(auto port, parse_port(text));` declares `port`, or returns the error from the enclosing function.
#define TRY(declaration, ...) TRY_IMPL(ABACUS_CONCAT(abacus_try_, __LINE__), declaration, __VA_ARGS__)
#define TRY_IMPL(holder, declaration, ...)                       \
  auto holder = (__VA_ARGS__);                                   \
  if (!holder) return ::abacus::fail(std::move(holder).error()); \
  declaration = std::move(holder).value()

/// Returns the error of a Status from the enclosing function, if there is one.
#define TRY_STATUS(...)                                                                                              \
  do {                                                                                                               \
    if (auto abacus_status = (__VA_ARGS__); !abacus_status) return ::abacus::fail(std::move(abacus_status).error()); \
  } while (false)
