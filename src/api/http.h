// HTTP/1.1 over a unix socket and loopback TCP: server and client. The library behind it stays in http_beast.cc.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/endpoint.h"
#include "base/result.h"
#include "base/time.h"

namespace abacus {

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  ///< Path and query as sent: "/v1/jobs?limit=5".
  std::string body;
};

/// Gives one piece of a streamed body at a time; an empty one means "nothing yet", nullopt ends it.
using BodySource = std::function<boost::asio::awaitable<std::optional<std::string>>()>;

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  ///< Names in lower case.
  std::string body;
  BodySource stream;  ///< If set, sent piece by piece after `body`.

  /// The first header of that name; empty if there is none.
  std::string header(std::string_view name) const;
};

/// Called on the server's executor; several calls may be under way at once.
using HttpHandler = std::function<boost::asio::awaitable<HttpResponse>(HttpRequest)>;

/// What a client may take of the server.
struct HttpLimits {
  std::uint32_t header_bytes = 16 << 10;  ///< Above: 431.
  std::uint64_t body_bytes = 8 << 20;     ///< Above: 413.
  std::size_t connections = 256;          ///< Above: closed at once.
  Duration header_time = seconds(60);     ///< From one answer to the end of the next request's header; then closed.
  Duration body_time = seconds(30);       ///< For a request's body; then closed.
  Duration write_time = seconds(30);      ///< For each write; then closed.
};

/// Serves until stop(). Not thread-safe: use it on its executor only, which must run one thread at a time.
class HttpServer {
 public:
  HttpServer(boost::asio::any_io_executor executor, HttpHandler handler, HttpLimits limits = {});
  /// Closes everything at once. The handler must stay valid until the calls under way have returned: call stop() first.
  ~HttpServer();

  /// Serves on a unix socket of mode 0600; whoever can open it is trusted. A socket file that nobody answers is
  /// replaced. Errors: `already_exists` (a live server there: its process id), `invalid` (a path too long), `denied`,
  /// `internal`.
  Status listen_unix(const std::string& path);

  /// Serves on a loopback address to those who send "Authorization: Bearer TOKEN". Port 0 picks one.
  /// Errors: `invalid` (not a loopback address, no token), `already_exists` (port in use), `internal`.
  Result<Endpoint> listen_tcp(const Endpoint& endpoint, std::string token);

  /// Takes no more connections and requests, waits up to `grace` for the answers under way, then closes the rest.
  boost::asio::awaitable<void> stop(Duration grace);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Where to find a server.
struct UnixTarget {
  std::string path;
};
struct TcpTarget {
  Endpoint endpoint;
  std::string token;
};
using HttpTarget = std::variant<UnixTarget, TcpTarget>;

/// "unix:PATH" or "http://ADDRESS:PORT", for messages.
std::string to_string(const HttpTarget& target);

/// One request, blocking, on a connection of its own. An answer with a status of 400 and above is no error here.
/// Errors: `unavailable` (nobody there), `denied` (the socket may not be opened), `timed_out`, `exhausted` (an answer
/// above 256 MiB), `corrupt` (no HTTP).
Result<HttpResponse> http_call(const HttpTarget& target, const HttpRequest& request, Duration timeout = seconds(60));

}  // namespace abacus
