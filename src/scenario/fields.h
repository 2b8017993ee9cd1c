// Reading the members of a JSON object: each is asked for once, and what nobody asked for is an error.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace abacus {

/// Members keep their defaults when they are absent. The first error stays; `finish` returns it, with the path.
class Fields {
 public:
  /// `value` outlives this.
  Fields(const boost::json::value& value, std::string path);

  /// Null if there is none, or if something was wrong before.
  const boost::json::value* find(std::string_view name);

  void text(std::string_view name, std::string& out);
  void flag(std::string_view name, bool& out);
  /// "150us", "2h", or a number of seconds.
  void time(std::string_view name, Duration& out);
  void number(std::string_view name, std::uint64_t& out, std::uint64_t most = UINT32_MAX);
  void number(std::string_view name, std::uint32_t& out, std::uint32_t most = UINT32_MAX);
  /// Hands each item of a list to `read`, with its path.
  void each(std::string_view name, const std::function<Status(const boost::json::value&, std::string)>& read);
  /// Hands a member to `read`, with its path.
  void with(std::string_view name, const std::function<Status(const boost::json::value&, std::string)>& read);

  void wrong(std::string_view name, const std::string& what);
  std::string path_of(std::string_view name) const;

  /// Errors: `invalid`; unknown members are named, with the nearest that is known.
  Status finish();

 private:
  const boost::json::object* object_ = nullptr;
  std::string path_;
  std::vector<std::string> asked_;
  Status status_;
};

}  // namespace abacus
