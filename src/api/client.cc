// Calls, and error bodies back into Errors.
#include "api/client.h"

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <charconv>

#include "api/json_text.h"

namespace abacus {
namespace {

namespace json = boost::json;

ErrorCode code_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    if (name == to_string(static_cast<ErrorCode>(i))) return static_cast<ErrorCode>(i);
  }
  return ErrorCode::internal;
}

Error error_of(const HttpResponse& response) {
  auto body = parse_json(response.body);
  const json::object* object = body ? body->if_object() : nullptr;
  const json::value* error = object ? object->if_contains("error") : nullptr;
  const json::object* fields = error ? error->if_object() : nullptr;
  const json::value* code = fields ? fields->if_contains("code") : nullptr;
  const json::value* message = fields ? fields->if_contains("message") : nullptr;
  if (code && message && code->is_string() && message->is_string()) {
    return {code_named(std::string_view(code->get_string())), std::string(message->get_string())};
  }
  return {ErrorCode::corrupt, fmt::format("HTTP status {} from what is no Iron Abacus agent", response.status)};
}

}  // namespace

Result<HttpResponse> ApiClient::call(HttpRequest request, Duration timeout) const {
  TRY(HttpResponse response, http_call(target_, request, timeout));
  if (response.status >= 400) return fail(error_of(response));
  return response;
}

Result<json::value> ApiClient::get(const std::string& path, Duration timeout) const {
  TRY(HttpResponse response, call({"GET", path, ""}, timeout));
  return parse_json(response.body);
}

Result<json::value> ApiClient::post(const std::string& path, const json::value& body, Duration timeout) const {
  TRY(HttpResponse response, call({"POST", path, json::serialize(body)}, timeout));
  return parse_json(response.body);
}

Result<LogPiece> ApiClient::read_log(const std::string& task, LogStream stream, std::uint64_t offset) const {
  std::string path = fmt::format("/v1/tasks/{}/log?stream={}&offset={}", task,
                                 stream == LogStream::standard_output ? "stdout" : "stderr", offset);
  TRY(HttpResponse response, call({"GET", path, ""}, seconds(60)));
  LogPiece piece;
  std::string next = response.header("x-abacus-next-offset");
  auto [end, error] = std::from_chars(next.data(), next.data() + next.size(), piece.next_offset);
  if (error != std::errc{} || end != next.data() + next.size()) {
    return fail(ErrorCode::corrupt, "the agent's answer lacks the offset to go on from");
  }
  piece.eof = response.header("x-abacus-eof") == "true";
  piece.available = response.header("x-abacus-available") != "false";
  piece.bytes = std::move(response.body);
  return piece;
}

}  // namespace abacus
