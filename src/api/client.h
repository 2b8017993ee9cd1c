// The client's side of the JSON API: one call, its JSON, its errors as Errors again.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "api/http.h"
#include "api/service.h"

namespace abacus {

/// Talks to one agent. Blocking; every call is a connection of its own.
class ApiClient {
 public:
  explicit ApiClient(HttpTarget target) : target_(std::move(target)) {}

  const HttpTarget& target() const { return target_; }

  /// Errors: those of http_call, and the agent's own with their code and sentence.
  Result<boost::json::value> get(const std::string& path, Duration timeout = seconds(60)) const;
  Result<boost::json::value> post(const std::string& path, const boost::json::value& body,
                                  Duration timeout = seconds(60)) const;

  /// A piece of a task's output. `task` may be "last" and so on, as everywhere in the API.
  Result<LogPiece> read_log(const std::string& task, LogStream stream, std::uint64_t offset) const;

 private:
  Result<HttpResponse> call(HttpRequest request, Duration timeout) const;

  HttpTarget target_;
};

}  // namespace abacus
