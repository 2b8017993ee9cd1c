// Requests to calls of the Service and back. docs/reference/api.md describes each route for users; the table below is
// the whole of what there is.
#include "api/routes.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <charconv>

#include "api/http_text.h"
#include "api/job_document.h"
#include "api/json_text.h"
#include "base/time_text.h"
#include "protocol/json_form.h"

namespace abacus {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

constexpr int kSchema = 1;
constexpr std::uint64_t kMaxPage = 10'000;       // jobs or tasks in one answer
constexpr std::uint64_t kMaxLogPiece = 1 << 20;  // bytes of a log in one answer, or in one piece of a stream
constexpr std::uint64_t kMaxWaitMs = 30'000;
constexpr Duration kWaitSlice = seconds(1);    // a change that falls between look and wait is seen after this
constexpr Duration kFollowTime = minutes(10);  // a stream ends then: a reader that is gone must not stay for ever
constexpr Duration kFollowPoll = milliseconds(100);

/// A request on its way to the Service.
struct Call {
  HttpUrl url;
  std::vector<std::string> names;  ///< What stands for the "*" of the pattern.
  std::string body;
};

using Reply = asio::awaitable<Result<HttpResponse>>;

HttpResponse reply_object(json::object fields, int status = 200) {
  json::object object;
  object["schema"] = kSchema;
  for (auto& member : fields) object[member.key()] = std::move(member.value());
  HttpResponse response;
  response.status = status;
  response.body = json::serialize(object) + "\n";
  return response;
}

template <class T>
HttpResponse reply(const T& value, int status = 200) {
  return reply_object(to_json(value).as_object(), status);
}

template <class T>
HttpResponse reply_list(const char* name, const std::vector<T>& list) {
  return reply_object({{name, to_json(list)}});
}

HttpResponse reply_error(int status, const Error& error) {
  json::object about{{"code", to_string(error.code)}, {"message", error.message}};
  return reply_object({{"error", std::move(about)}}, status);
}

Result<std::uint64_t> query_number(const HttpUrl& url, const char* name, std::uint64_t otherwise, std::uint64_t most) {
  const std::string* text = url.find(name);
  if (!text) return otherwise;
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || number > most) {
    return fail(ErrorCode::invalid, "{}: '{}' is out of place: want an integer from 0 to {}", name, *text, most);
  }
  return number;
}

/// The body as a JSON object; an empty body is an empty object. Errors: `invalid`.
Result<json::object> body_object(const Call& call, const std::vector<std::string>& fields) {
  if (call.body.empty()) return json::object{};
  TRY(json::value value, parse_json(call.body));
  if (!value.is_object()) return fail(ErrorCode::invalid, "the body must be a JSON object");
  for (const auto& member : value.get_object()) {
    if (std::find(fields.begin(), fields.end(), std::string_view(member.key())) != fields.end()) continue;
    return fail(ErrorCode::invalid, "unknown field '{}': want {}", std::string_view(member.key()),
                fmt::join(fields, ", "));
  }
  return std::move(value.get_object());
}

Result<bool> bool_field(const json::object& object, const char* name, bool otherwise) {
  const json::value* value = object.if_contains(name);
  if (!value) return otherwise;
  if (!value->is_bool()) return fail(ErrorCode::invalid, "{}: want true or false", name);
  return value->get_bool();
}

Result<std::uint32_t> number_field(const json::object& object, const char* name, std::uint32_t otherwise) {
  const json::value* value = object.if_contains(name);
  if (!value) return otherwise;
  boost::system::error_code error;
  auto number = value->to_number<std::uint32_t>(error);
  if (error)
    return fail(ErrorCode::invalid, "{}: {} is no integer from 0 to 4294967295", name, json::serialize(*value));
  return number;
}

/// A task's output as it comes, up to its end.
class LogFollower {
 public:
  LogFollower(Service& service, TaskId task, LogStream stream, std::uint64_t offset)
      : service_(service), task_(task), stream_(stream), offset_(offset) {}

  asio::awaitable<std::optional<std::string>> next() {
    auto piece = co_await service_.read_log(task_, stream_, offset_, kMaxLogPiece);
    if (!piece || (piece->bytes.empty() && (piece->eof || waited_ >= kFollowTime))) co_return std::nullopt;
    if (piece->bytes.empty()) {
      asio::steady_timer pause(co_await asio::this_coro::executor, std::chrono::nanoseconds(kFollowPoll.ns));
      co_await pause.async_wait(asio::use_awaitable);
      waited_ += kFollowPoll;
    }
    offset_ = piece->next_offset;
    co_return std::move(piece->bytes);
  }

 private:
  Service& service_;
  TaskId task_;
  LogStream stream_;
  std::uint64_t offset_;
  Duration waited_;
};

class Routes {
 public:
  Routes(Service& service, std::function<WallTime()> wall_now) : service_(service), wall_now_(std::move(wall_now)) {}

  asio::awaitable<HttpResponse> handle(HttpRequest request) {
    auto url = parse_http_url(request.target);
    if (!url) co_return reply_error(400, url.error());
    std::string allowed;
    for (const Route& route : kTable) {
      auto names = match(route.pattern, url->path);
      if (!names) continue;
      if (request.method != route.method) {
        allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
        continue;
      }
      Call call{std::move(*url), std::move(*names), std::move(request.body)};
      auto answer = co_await (this->*route.call)(std::move(call));
      if (!answer) co_return reply_error(http_status_of(answer.error().code), answer.error());
      co_return std::move(*answer);
    }
    co_return refuse(request, allowed);
  }

 private:
  struct Route {
    const char* method;
    const char* pattern;
    Reply (Routes::*call)(Call);
  };
  static const std::vector<Route> kTable;

  static HttpResponse refuse(const HttpRequest& request, const std::string& allowed) {
    if (allowed.empty()) {
      return reply_error(404, {ErrorCode::not_found, fmt::format("no such path: {}; want one of docs/reference/api.md, "
                                                                 "such as /v1/jobs",
                                                                 request.target)});
    }
    HttpResponse response =
        reply_error(405, {ErrorCode::invalid, fmt::format("{} {}: want {}", request.method, request.target, allowed)});
    response.headers.emplace_back("allow", allowed);
    return response;
  }

  /// What stands for each "*", or nothing if the path does not match.
  static std::optional<std::vector<std::string>> match(std::string_view pattern, const std::vector<std::string>& path) {
    std::vector<std::string> names;
    for (const std::string& segment : path) {
      if (pattern.empty()) return std::nullopt;
      pattern.remove_prefix(1);  // "/"
      std::string_view wanted = pattern.substr(0, pattern.find('/'));
      pattern.remove_prefix(wanted.size());
      if (wanted == "*")
        names.push_back(segment);
      else if (wanted != segment)
        return std::nullopt;
    }
    if (!pattern.empty()) return std::nullopt;
    return names;
  }

  /// A job's id, or "last" for the latest.
  Async<JobId> job_id(std::string text) {
    if (text != "last") co_return JobId::parse(text);
    auto latest = co_await service_.jobs(1);
    if (!latest) co_return fail(latest.error());
    if (latest->empty()) co_return fail(ErrorCode::not_found, "there is no last job: none was submitted here");
    co_return latest->front().job;
  }

  /// "JOB", "JOB.INDEX", "last", "last.INDEX".
  Async<TaskId> task_id(std::string text) {
    std::size_t dot = text.find('.');
    auto job = co_await job_id(text.substr(0, dot));
    if (!job) co_return fail(job.error());
    co_return TaskId::parse(job->to_string() + (dot == std::string::npos ? "" : text.substr(dot)));
  }

  /// Forwards the answer of a call that has no parameters.
  template <class T>
  static Reply forward(Async<T> answer) {
    auto value = co_await std::move(answer);
    if (!value) co_return fail(value.error());
    co_return reply(*value);
  }
  template <class T>
  static Reply forward_list(const char* name, Async<std::vector<T>> answer) {
    auto list = co_await std::move(answer);
    if (!list) co_return fail(list.error());
    co_return reply_list(name, *list);
  }

  Reply info(Call) { return forward(service_.info()); }
  Reply counters(Call) { return forward(service_.counters()); }
  Reply selling(Call) { return forward(service_.selling()); }
  Reply nodes(Call) { return forward_list("nodes", service_.peers()); }
  Reply leases(Call) { return forward_list("leases", service_.bought_leases()); }

  Reply metrics(Call) {
    auto text = co_await service_.metrics();
    if (!text) co_return fail(text.error());
    HttpResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = std::move(*text);
    co_return response;
  }

  Result<SubmitRequest> job_of(const Call& call) const {
    TRY(json::value document, parse_json(call.body));
    return parse_job_document(document, wall_now_());
  }

  Reply submit(Call call) {
    auto request = job_of(call);
    if (!request) co_return fail(request.error());
    auto submitted = co_await service_.submit(std::move(*request));
    if (!submitted) co_return fail(submitted.error());
    co_return reply(*submitted, 201);
  }

  Reply plan(Call call) {
    auto request = job_of(call);
    if (!request) co_return fail(request.error());
    co_return co_await forward(service_.plan(std::move(request->spec)));
  }

  Reply jobs(Call call) {
    auto limit = query_number(call.url, "limit", 100, kMaxPage);
    if (!limit) co_return fail(limit.error());
    co_return co_await forward_list("jobs", service_.jobs(static_cast<std::uint32_t>(*limit)));
  }

  /// With ?wait_ms=N: when the job has changed or ended, or after N milliseconds.
  Reply job(Call call) {
    auto id = co_await job_id(call.names[0]);
    if (!id) co_return fail(id.error());
    auto wait_ms = query_number(call.url, "wait_ms", 0, kMaxWaitMs);
    if (!wait_ms) co_return fail(wait_ms.error());
    auto view = co_await service_.job(*id);
    if (!view) co_return fail(view.error());
    std::string first = json::serialize(to_json(*view));
    Duration left = milliseconds(static_cast<std::int64_t>(*wait_ms));
    while (left.ns > 0 && !view->ended) {
      Duration slice = std::min(left, kWaitSlice);
      left = left - slice;
      auto waited = co_await service_.wait_change(*id, slice);
      if (!waited) co_return fail(waited.error());
      view = co_await service_.job(*id);
      if (!view) co_return fail(view.error());
      if (json::serialize(to_json(*view)) != first) break;
    }
    co_return reply(*view);
  }

  Reply tasks(Call call) {
    auto id = co_await job_id(call.names[0]);
    if (!id) co_return fail(id.error());
    auto offset = query_number(call.url, "offset", 0, std::numeric_limits<std::uint32_t>::max());
    if (!offset) co_return fail(offset.error());
    auto limit = query_number(call.url, "limit", 1'000, kMaxPage);
    if (!limit) co_return fail(limit.error());
    co_return co_await forward_list(
        "tasks", service_.tasks(*id, static_cast<std::uint32_t>(*offset), static_cast<std::uint32_t>(*limit)));
  }

  Reply cancel(Call call) {
    auto id = co_await job_id(call.names[0]);
    if (!id) co_return fail(id.error());
    auto body = body_object(call, {"index"});
    if (!body) co_return fail(body.error());
    auto index = number_field(*body, "index", 0);
    if (!index) co_return fail(index.error());
    std::optional<std::uint32_t> only;
    if (body->contains("index")) only = *index;
    co_return co_await forward(service_.cancel(*id, only));
  }

  Reply task(Call call) {
    auto id = co_await task_id(call.names[0]);
    if (!id) co_return fail(id.error());
    co_return co_await forward(service_.task(*id));
  }

  Reply explain(Call call) {
    auto id = co_await task_id(call.names[0]);
    if (!id) co_return fail(id.error());
    co_return co_await forward(service_.explain(*id));
  }

  static Result<LogStream> stream_of(const HttpUrl& url) {
    const std::string* name = url.find("stream");
    if (!name || *name == "stdout") return LogStream::standard_output;
    if (*name == "stderr") return LogStream::standard_error;
    return fail(ErrorCode::invalid, "stream: '{}' is not known: want stdout or stderr", *name);
  }

  /// The bytes as they are; where to go on reading stands in the header. With ?follow=true a stream up to the task's
  /// end.
  Reply log(Call call) {
    auto id = co_await task_id(call.names[0]);
    if (!id) co_return fail(id.error());
    auto stream = stream_of(call.url);
    if (!stream) co_return fail(stream.error());
    auto offset = query_number(call.url, "offset", 0, std::numeric_limits<std::int64_t>::max());
    if (!offset) co_return fail(offset.error());
    auto limit = query_number(call.url, "limit", 65'536, kMaxLogPiece);
    if (!limit) co_return fail(limit.error());
    auto piece = co_await service_.read_log(*id, *stream, *offset, *limit);
    if (!piece) co_return fail(piece.error());
    HttpResponse response;
    response.content_type = "application/octet-stream";
    response.body = std::move(piece->bytes);
    const std::string* follow = call.url.find("follow");
    if (follow && *follow == "true") {
      auto follower = std::make_shared<LogFollower>(service_, *id, *stream, piece->next_offset);
      response.stream = [follower] { return follower->next(); };
      co_return response;
    }
    response.headers = {{"x-abacus-next-offset", std::to_string(piece->next_offset)},
                        {"x-abacus-eof", piece->eof ? "true" : "false"},
                        {"x-abacus-available", piece->available ? "true" : "false"}};
    co_return response;
  }

  Reply drain(Call call) {
    auto body = body_object(call, {"on"});
    if (!body) co_return fail(body.error());
    auto on = bool_field(*body, "on", true);
    if (!on) co_return fail(on.error());
    co_return co_await forward(service_.drain(*on));
  }

  Reply new_token(Call call) {
    auto body = body_object(call, {"ttl", "uses"});
    if (!body) co_return fail(body.error());
    const json::value* ttl = body->if_contains("ttl");
    Result<Duration> time = ttl && !ttl->is_string() ? fail(ErrorCode::invalid, "want a text such as \"1h\"")
                            : ttl                    ? parse_duration(std::string_view(ttl->get_string()))
                                                     : Result<Duration>(hours(1));
    if (!time) co_return fail(time.error().in("ttl"));
    auto uses = number_field(*body, "uses", 1);
    if (!uses) co_return fail(uses.error());
    if (*uses == 0 || time->ns == 0) co_return fail(ErrorCode::invalid, "a token needs at least one use and some time");
    co_return co_await forward(service_.new_token(*time, *uses));
  }

  Reply shutdown(Call call) {
    auto body = body_object(call, {"end_work"});
    if (!body) co_return fail(body.error());
    auto end_work = bool_field(*body, "end_work", false);
    if (!end_work) co_return fail(end_work.error());
    auto done = co_await service_.shutdown(*end_work);
    if (!done) co_return fail(done.error());
    co_return reply_object({{"stopping", true}}, 202);
  }

  Service& service_;
  std::function<WallTime()> wall_now_;
};

const std::vector<Routes::Route> Routes::kTable = {
    {"GET", "/v1/info", &Routes::info},              // who this agent is
    {"GET", "/v1/counters", &Routes::counters},      // since its start
    {"GET", "/metrics", &Routes::metrics},           // the same and more for Prometheus
    {"POST", "/v1/jobs", &Routes::submit},           // a job document
    {"GET", "/v1/jobs", &Routes::jobs},              // ?limit
    {"GET", "/v1/jobs/*", &Routes::job},             // ?wait_ms
    {"GET", "/v1/jobs/*/tasks", &Routes::tasks},     // ?offset&limit
    {"POST", "/v1/jobs/*/cancel", &Routes::cancel},  // {"index"} or nothing
    {"GET", "/v1/tasks/*", &Routes::task},
    {"GET", "/v1/tasks/*/explain", &Routes::explain},
    {"GET", "/v1/tasks/*/log", &Routes::log},     // ?stream&offset&limit&follow
    {"POST", "/v1/plan", &Routes::plan},          // a job document; buys nothing
    {"GET", "/v1/nodes", &Routes::nodes},         // those known here
    {"GET", "/v1/selling", &Routes::selling},     // capacity, price, leases sold
    {"GET", "/v1/leases", &Routes::leases},       // leases bought
    {"POST", "/v1/drain", &Routes::drain},        // {"on"}
    {"POST", "/v1/tokens", &Routes::new_token},   // {"ttl", "uses"}
    {"POST", "/v1/shutdown", &Routes::shutdown},  // {"end_work"}
};

}  // namespace

int http_status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid: return 400;
    case ErrorCode::not_found: return 404;
    case ErrorCode::already_exists: return 409;
    case ErrorCode::denied: return 403;
    case ErrorCode::unavailable: return 503;
    case ErrorCode::exhausted: return 429;
    case ErrorCode::timed_out: return 504;
    case ErrorCode::corrupt: return 502;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::internal: return 500;
  }
  return 500;
}

HttpHandler make_api_handler(Service& service, std::function<WallTime()> wall_now) {
  auto routes = std::make_shared<Routes>(service, std::move(wall_now));
  return [routes](HttpRequest request) { return routes->handle(std::move(request)); };
}

}  // namespace abacus
