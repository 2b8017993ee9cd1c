// The HTTP server and client over Boost.Beast. The only file that includes it: each one more would build 20 s longer.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <list>

#include "api/http.h"
#include "api/token.h"

namespace abacus {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
template <class Protocol>
using Stream = beast::basic_stream<Protocol>;
template <class Protocol>
using Acceptor = asio::basic_socket_acceptor<Protocol>;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kMaxAnswerBytes = 256 << 20;
constexpr std::uint64_t kMaxDrainBytes = 64 << 20;
constexpr Duration kDrainTime = seconds(2);
constexpr Duration kAcceptPause = milliseconds(100);

std::chrono::nanoseconds chrono(Duration time) { return std::chrono::nanoseconds(time.ns); }

template <class Socket>
void close_on_exec(Socket& socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

/// One open connection, as stop() sees it.
struct Connection {
  std::function<void()> close;
  bool busy = false;  ///< A request is being answered.
};

/// What sessions and accept loops share; lives as long as the last of them.
struct ServerCore {
  ServerCore(asio::any_io_executor runs_on, HttpHandler answers, HttpLimits bounds)
      : executor(runs_on), handler(std::move(answers)), limits(bounds), connection_ended(runs_on) {}

  asio::any_io_executor executor;
  HttpHandler handler;
  HttpLimits limits;
  bool stopping = false;
  std::list<Connection> connections;
  std::vector<std::function<void()>> close_acceptors;
  std::vector<std::string> socket_files;
  asio::steady_timer connection_ended;  ///< Cancelled whenever one ends.

  void stop_listening() {
    stopping = true;
    for (auto& close : close_acceptors) close();
    for (const std::string& file : socket_files) unlink(file.c_str());
    close_acceptors.clear();
    socket_files.clear();
  }
  void close_connections(bool idle_only) {
    for (Connection& connection : connections) {
      if (!idle_only || !connection.busy) connection.close();
    }
  }
};

HttpResponse plain_error(int status, const char* code, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = fmt::format(R"({{"schema":1,"error":{{"code":"{}","message":"{}"}}}})", code, message);
  return response;
}

/// The answer to a request that could not be read; none for a connection that is simply over.
std::optional<HttpResponse> answer_to(error_code error, const HttpLimits& limits) {
  if (error == http::error::body_limit) {
    return plain_error(413, "exhausted", fmt::format("the body is above {} bytes", limits.body_bytes));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return plain_error(431, "exhausted", fmt::format("the header is above {} bytes", limits.header_bytes));
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
  if (error.category() == http::make_error_code(http::error::bad_method).category()) {
    return plain_error(400, "invalid", "not an HTTP/1.1 request: " + error.message());
  }
  return std::nullopt;
}

/// One connection of a client: its requests in turn.
template <class Protocol>
class Session {
 public:
  Session(std::shared_ptr<ServerCore> core, Stream<Protocol> stream, std::shared_ptr<const std::string> token)
      : core_(std::move(core)), stream_(std::move(stream)), token_(std::move(token)) {}

  asio::awaitable<void> run() {
    close_on_exec(stream_.socket());
    auto me = core_->connections.insert(core_->connections.end(), Connection{[this] { stream_.close(); }});
    try {
      bool goes_on = true;
      while (goes_on && !core_->stopping) goes_on = co_await serve_one(*me);
      co_await close_gently();
    } catch (const std::exception&) {
      // Out of memory or a broken handler: this connection ends, the server goes on.
    }
    core_->connections.erase(me);
    core_->connection_ended.cancel();
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  asio::awaitable<bool> serve_one(Connection& me) {
    Parser parser;
    parser.header_limit(core_->limits.header_bytes);
    parser.body_limit(core_->limits.body_bytes);
    stream_.expires_after(chrono(core_->limits.header_time));
    auto [error, size] = co_await http::async_read_header(stream_, buffer_, parser, kTuple);
    me.busy = true;
    bool goes_on = false;
    if (error) {
      if (auto response = answer_to(error, core_->limits)) co_await write(*response, parser.get(), false);
    } else if (!may_pass(parser.get())) {
      HttpResponse response = plain_error(401, "denied", "want the header 'Authorization: Bearer TOKEN'");
      response.headers.emplace_back("www-authenticate", "Bearer");
      co_await write(response, parser.get(), false);
    } else {
      goes_on = co_await read_and_answer(parser);
    }
    me.busy = false;
    co_return goes_on;
  }

  bool may_pass(const Parser::value_type& request) const {
    if (!token_) return true;
    std::string_view given(request[http::field::authorization].data(), request[http::field::authorization].size());
    constexpr std::string_view kScheme = "Bearer ";
    return given.substr(0, kScheme.size()) == kScheme && same_secret(given.substr(kScheme.size()), *token_);
  }

  asio::awaitable<bool> read_and_answer(Parser& parser) {
    stream_.expires_after(chrono(core_->limits.body_time));
    if (beast::iequals(parser.get()[http::field::expect], "100-continue") && !parser.is_done()) {
      http::response<http::empty_body> go_on(http::status::continue_, 11);
      auto [error, size] = co_await http::async_write(stream_, go_on, kTuple);
      if (error) co_return false;
    }
    auto [error, size] = co_await http::async_read(stream_, buffer_, parser, kTuple);
    if (error) {
      if (auto response = answer_to(error, core_->limits)) co_await write(*response, parser.get(), false);
      co_return false;
    }
    stream_.expires_never();
    HttpRequest request;
    request.method = std::string(parser.get().method_string());
    request.target = std::string(parser.get().target());
    request.body = std::move(parser.get().body());
    HttpResponse response = co_await core_->handler(std::move(request));
    bool keep = parser.get().keep_alive() && !core_->stopping && parser.get().method() != http::verb::head;
    co_return co_await write(response, parser.get(), keep);
  }

  template <class Message>
  void set_header(Message& message, const HttpResponse& response, bool keep) {
    message.result(static_cast<unsigned>(response.status));
    message.version(11);
    message.set(http::field::content_type, response.content_type);
    message.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : response.headers) message.set(name, value);
    message.keep_alive(keep);
  }

  /// True if the connection can serve another request.
  asio::awaitable<bool> write(HttpResponse& response, const Parser::value_type& request, bool keep) {
    if (response.stream) co_return co_await write_stream(response, request.version() >= 11, keep);
    http::response<http::string_body> message;
    set_header(message, response, keep);
    if (request.method() != http::verb::head) message.body() = std::move(response.body);
    message.prepare_payload();
    stream_.expires_after(chrono(core_->limits.write_time));
    auto [error, size] = co_await http::async_write(stream_, message, kTuple);
    co_return !error && keep;
  }

  /// Chunked; to an HTTP/1.0 client plain, up to the end of the connection.
  asio::awaitable<bool> write_stream(HttpResponse& response, bool chunked, bool keep) {
    http::response<http::empty_body> message;
    set_header(message, response, keep && chunked);
    if (chunked) message.chunked(true);
    http::response_serializer<http::empty_body> serializer(message);
    stream_.expires_after(chrono(core_->limits.write_time));
    auto [error, size] = co_await http::async_write_header(stream_, serializer, kTuple);
    if (error) co_return false;
    std::optional<std::string> piece = std::move(response.body);
    while (piece && !core_->stopping) {
      if (!piece->empty() && !co_await write_piece(*piece, chunked)) co_return false;
      piece = co_await response.stream();
    }
    if (!chunked || piece) co_return false;
    stream_.expires_after(chrono(core_->limits.write_time));
    auto [end_error, end_size] = co_await asio::async_write(stream_, http::make_chunk_last(), kTuple);
    co_return !end_error && keep;
  }

  asio::awaitable<bool> write_piece(const std::string& piece, bool chunked) {
    stream_.expires_after(chrono(core_->limits.write_time));
    asio::const_buffer bytes = asio::buffer(piece);
    if (chunked) {
      auto [error, size] = co_await asio::async_write(stream_, http::make_chunk(bytes), kTuple);
      co_return !error;
    }
    auto [error, size] = co_await asio::async_write(stream_, bytes, kTuple);
    co_return !error;
  }

  /// Says that nothing more comes, and reads off what the client still sends: a reset would take our answer with it.
  asio::awaitable<void> close_gently() {
    error_code ignored;
    stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
    stream_.expires_after(chrono(kDrainTime));
    std::array<char, 16384> waste;
    for (std::uint64_t drained = 0; drained < kMaxDrainBytes && !core_->stopping;) {
      auto [error, size] = co_await stream_.async_read_some(asio::buffer(waste), kTuple);
      if (error) break;
      drained += size;
    }
    stream_.close();
  }

  std::shared_ptr<ServerCore> core_;
  Stream<Protocol> stream_;
  std::shared_ptr<const std::string> token_;  ///< Null: whoever connects is trusted.
  beast::flat_buffer buffer_;
};

template <class Protocol>
asio::awaitable<void> serve(std::shared_ptr<ServerCore> core, typename Protocol::socket socket,
                            std::shared_ptr<const std::string> token) {
  Session<Protocol> session(std::move(core), Stream<Protocol>(std::move(socket)), std::move(token));
  co_await session.run();
}

template <class Protocol>
asio::awaitable<void> accept_loop(std::shared_ptr<ServerCore> core, std::shared_ptr<Acceptor<Protocol>> acceptor,
                                  std::shared_ptr<const std::string> token) {
  while (!core->stopping) {
    auto [error, socket] = co_await acceptor->async_accept(kTuple);
    if (core->stopping) break;
    if (error) {  // such as too many open files: others may close some
      asio::steady_timer pause(core->executor, chrono(kAcceptPause));
      co_await pause.async_wait(kTuple);
    } else if (core->connections.size() < core->limits.connections) {
      asio::co_spawn(core->executor, serve<Protocol>(core, std::move(socket), token), asio::detached);
    }
  }
}

template <class Protocol>
void start_accepting(const std::shared_ptr<ServerCore>& core, std::shared_ptr<Acceptor<Protocol>> acceptor,
                     std::shared_ptr<const std::string> token) {
  core->close_acceptors.push_back([acceptor] {
    error_code ignored;
    acceptor->close(ignored);
  });
  asio::co_spawn(core->executor, accept_loop<Protocol>(core, acceptor, std::move(token)), asio::detached);
}

ErrorCode code_of(error_code error) {
  if (error == asio::error::address_in_use) return ErrorCode::already_exists;
  if (error == asio::error::access_denied || error == boost::system::errc::operation_not_permitted) {
    return ErrorCode::denied;
  }
  return ErrorCode::internal;
}

/// Removes a socket file that no process listens on. Errors: `already_exists` if one does, or if it is no socket.
Status remove_dead_socket(const std::string& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return fail(ErrorCode::already_exists, "{} is in the way and is no socket: move it elsewhere", path);
  }
  asio::io_context context;
  Unix::socket socket(context);
  error_code error;
  socket.connect(Unix::endpoint(path), error);
  if (!error) {
    ucred peer = {};
    socklen_t size = sizeof peer;
    getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return fail(ErrorCode::already_exists,
                "an agent (process {}) already serves {}: stop it, or give this one another --data-dir", peer.pid,
                path);
  }
  if (error != asio::error::connection_refused || unlink(path.c_str()) != 0) {
    return fail(code_of(error), "the socket {} of an earlier agent cannot be replaced: {}", path, error.message());
  }
  return {};
}

bool is_loopback(const Tcp::endpoint& endpoint) { return endpoint.address().is_loopback(); }

Tcp::endpoint tcp_endpoint_of(const Endpoint& endpoint) {
  asio::ip::address_v6::bytes_type bytes;
  std::copy(endpoint.address.begin(), endpoint.address.end(), bytes.begin());
  asio::ip::address_v6 address(bytes);
  if (!address.is_v4_mapped()) return Tcp::endpoint(address, endpoint.port);
  return Tcp::endpoint(asio::ip::make_address_v4(asio::ip::v4_mapped, address), endpoint.port);
}

// ---- client --------------------------------------------------------------------------------------------------------

ErrorCode code_of_call(error_code error) {
  if (error == beast::error::timeout) return ErrorCode::timed_out;
  if (error == asio::error::access_denied) return ErrorCode::denied;
  if (error == http::error::body_limit) return ErrorCode::exhausted;
  if (error.category() == http::make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message) {
    return ErrorCode::corrupt;
  }
  return ErrorCode::unavailable;
}

Error call_error(error_code error, const char* doing) {
  return {code_of_call(error), fmt::format("{}: {}", doing, error.message())};
}

http::request<http::string_body> message_of(const HttpRequest& request, const std::string& host,
                                            const std::string& token) {
  http::request<http::string_body> message;
  message.method_string(request.method);
  message.target(request.target);
  message.version(11);
  message.set(http::field::host, host);
  message.set(http::field::connection, "close");
  if (!token.empty()) message.set(http::field::authorization, "Bearer " + token);
  if (!request.body.empty()) message.set(http::field::content_type, "application/json");
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

HttpResponse response_of(http::response<http::string_body> message) {
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  response.content_type = std::string(message[http::field::content_type]);
  for (const auto& field : message) {
    std::string name(field.name_string());
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    response.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  response.body = std::move(message.body());
  return response;
}

template <class Protocol>
asio::awaitable<Result<HttpResponse>> exchange(typename Protocol::endpoint endpoint,
                                               http::request<http::string_body> request, Duration timeout) {
  Stream<Protocol> stream(co_await asio::this_coro::executor);
  stream.expires_after(chrono(timeout));
  auto [connect_error] = co_await stream.async_connect(endpoint, kTuple);
  if (connect_error) co_return fail(call_error(connect_error, "connecting"));
  auto [write_error, written] = co_await http::async_write(stream, request, kTuple);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswerBytes);
  // After a failed write there may still be an answer: the server can refuse a request before it has read all of it.
  auto [read_error, size] = co_await http::async_read(stream, buffer, parser, kTuple);
  if (read_error && write_error) co_return fail(call_error(write_error, "sending the request"));
  if (read_error) co_return fail(call_error(read_error, "reading the answer"));
  co_return response_of(parser.release());
}

template <class Protocol>
Result<HttpResponse> run_exchange(typename Protocol::endpoint endpoint, http::request<http::string_body> request,
                                  Duration timeout) {
  asio::io_context context(1);
  Result<HttpResponse> result = fail(ErrorCode::internal, "the call did not end");
  asio::co_spawn(context, exchange<Protocol>(std::move(endpoint), std::move(request), timeout),
                 [&](std::exception_ptr problem, Result<HttpResponse> answer) {
                   if (!problem) result = std::move(answer);
                 });
  context.run();
  return result;
}

}  // namespace

std::string HttpResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

struct HttpServer::State : ServerCore {
  using ServerCore::ServerCore;
};

HttpServer::HttpServer(asio::any_io_executor executor, HttpHandler handler, HttpLimits limits)
    : state_(std::make_shared<State>(std::move(executor), std::move(handler), limits)) {}

HttpServer::~HttpServer() {
  state_->stop_listening();
  state_->close_connections(false);
}

Status HttpServer::listen_unix(const std::string& path) {
  constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() > kMaxPath) {
    return fail(ErrorCode::invalid,
                "the socket path {} has {} bytes, the system allows {}: choose a shorter data directory", path,
                path.size(), kMaxPath);
  }
  auto acceptor = std::make_shared<Acceptor<Unix>>(state_->executor);
  error_code error;
  acceptor->open(Unix(), error);
  if (error) return fail(ErrorCode::internal, "no unix socket to be had: {}", error.message());
  close_on_exec(*acceptor);
  fchmod(acceptor->native_handle(), 0600);  // before bind, so that the file never has another mode
  acceptor->bind(Unix::endpoint(path), error);
  if (error == asio::error::address_in_use) {
    TRY_STATUS(remove_dead_socket(path));
    acceptor->bind(Unix::endpoint(path), error);
  }
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error) return fail(code_of(error), "cannot serve on {}: {}", path, error.message());
  state_->socket_files.push_back(path);
  start_accepting<Unix>(state_, std::move(acceptor), nullptr);
  return {};
}

Result<Endpoint> HttpServer::listen_tcp(const Endpoint& endpoint, std::string token) {
  Tcp::endpoint address = tcp_endpoint_of(endpoint);
  if (!is_loopback(address) || token.empty()) {
    return fail(ErrorCode::invalid, "the API listens on loopback only and with a token, not on {}: want 127.0.0.1:PORT",
                endpoint.to_string());
  }
  auto acceptor = std::make_shared<Acceptor<Tcp>>(state_->executor);
  error_code error;
  acceptor->open(address.protocol(), error);
  if (!error) close_on_exec(*acceptor);
  if (!error) acceptor->set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor->bind(address, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use) {
    return fail(ErrorCode::already_exists, "port {} of the API is in use by another program: choose another --api-port",
                endpoint.port);
  }
  if (error) return fail(code_of(error), "cannot serve the API on {}: {}", endpoint.to_string(), error.message());
  Endpoint bound = endpoint;
  bound.port = acceptor->local_endpoint().port();
  start_accepting<Tcp>(state_, std::move(acceptor), std::make_shared<const std::string>(std::move(token)));
  return bound;
}

asio::awaitable<void> HttpServer::stop(Duration grace) {
  std::shared_ptr<State> state = state_;
  state->stop_listening();
  state->close_connections(true);
  auto deadline = std::chrono::steady_clock::now() + chrono(grace);
  while (!state->connections.empty() && std::chrono::steady_clock::now() < deadline) {
    state->connection_ended.expires_at(deadline);
    co_await state->connection_ended.async_wait(kTuple);
  }
  state->close_connections(false);
}

std::string to_string(const HttpTarget& target) {
  if (const auto* tcp = std::get_if<TcpTarget>(&target)) return "http://" + tcp->endpoint.to_string();
  return "unix:" + std::get<UnixTarget>(target).path;
}

Result<HttpResponse> http_call(const HttpTarget& target, const HttpRequest& request, Duration timeout) {
  Result<HttpResponse> result = fail(ErrorCode::internal, "not called");
  if (const auto* tcp = std::get_if<TcpTarget>(&target)) {
    result = run_exchange<Tcp>(tcp_endpoint_of(tcp->endpoint),
                               message_of(request, tcp->endpoint.to_string(), tcp->token), timeout);
  } else {
    const std::string& path = std::get<UnixTarget>(target).path;
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      return fail(ErrorCode::invalid, "{} is too long for a socket", path);
    result = run_exchange<Unix>(Unix::endpoint(path), message_of(request, "localhost", ""), timeout);
  }
  if (!result) return fail(result.error().in(to_string(target)));
  return result;
}

}  // namespace abacus
