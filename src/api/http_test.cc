// The HTTP server against well and badly behaved clients, over real sockets.
#include "api/http.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>

#include "api/http_text.h"
#include "api/service_fixture.h"
#include "api/token.h"

namespace abacus {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

boost::asio::awaitable<HttpResponse> echo(HttpRequest request) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.target + " " + request.body;
  co_return response;
}

/// A connection that sends bytes as they are.
class RawClient {
 public:
  explicit RawClient(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    timeval limit = {5, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~RawClient() { close(fd_); }
  bool connected() const { return connected_; }
  void send(std::string_view bytes) { static_cast<void>(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL)); }
  /// All up to the end of the connection; "(silent)" at the end if it stays open for five seconds.
  std::string read_all() { return read_until("\n\nnever\n\n"); }
  std::string read_until(std::string_view end) {
    std::string all;
    char buffer[4096];
    while (all.find(end) == std::string::npos) {
      ssize_t size = recv(fd_, buffer, sizeof buffer, 0);
      if (size < 0) return all + "(silent)";
      if (size == 0) break;
      all.append(buffer, static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  int fd_;
  bool connected_ = false;
};

struct Served {
  explicit Served(HttpHandler handler = echo, HttpLimits limits = {}) : server(std::move(handler), limits) {
    EXPECT_TRUE(server.listen_unix());
    server.start();
  }
  TestServer server;
};

TEST(Http, AnswersOverAUnixSocketOfItsOwner) {
  Served served;
  struct stat info = {};
  ASSERT_EQ(stat(served.server.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  auto response = http_call(served.server.target(), {"POST", "/a?b=c", "body"});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "POST /a?b=c body");
  EXPECT_EQ(response->header("cache-control"), "no-store");
}

TEST(Http, KeepsAConnectionForTheNextRequest) {
  Served served;
  RawClient client(served.server.path());
  client.send("GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_until("GET /one "), HasSubstr("200 OK"));
  client.send("GET /two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_all(), HasSubstr("GET /two "));
}

TEST(Http, TakesTwoRequestsSentAtOnce) {
  Served served;
  RawClient client(served.server.path());
  client.send("GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_all(), testing::AllOf(HasSubstr("GET /one "), HasSubstr("GET /two ")));
}

TEST(Http, BoundsHeaderAndBody) {
  HttpLimits limits;
  limits.header_bytes = 512;
  limits.body_bytes = 100;
  Served served(echo, limits);
  RawClient header(served.server.path());
  header.send("GET / HTTP/1.1\r\nX: " + std::string(600, 'x') + "\r\n\r\n");
  EXPECT_THAT(header.read_all(), StartsWith("HTTP/1.1 431"));
  auto response = http_call(served.server.target(), {"POST", "/", std::string(101, 'x')});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 413);
  RawClient chunked(served.server.path());
  chunked.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'x') + "\r\n0\r\n\r\n");
  EXPECT_THAT(chunked.read_all(), StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(http_call(served.server.target(), {"POST", "/", std::string(100, 'x')})->status, 200);
}

TEST(Http, RefusesWhatIsNoHttp) {
  Served served;
  RawClient client(served.server.path());
  client.send("\x16\x03\x01 hello\r\n\r\n");
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 400"));
}

TEST(Http, ClosesOnSlowClientsAndServesOthersMeanwhile) {
  HttpLimits limits;
  limits.header_time = milliseconds(300);
  limits.body_time = milliseconds(300);
  Served served(echo, limits);
  RawClient header(served.server.path()), body(served.server.path());
  header.send("GET / HT");
  body.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(http_call(served.server.target(), {"GET", "/", ""})->status, 200);
  EXPECT_EQ(header.read_all(), "");
  EXPECT_EQ(body.read_all(), "");
}

TEST(Http, BoundsConnections) {
  HttpLimits limits;
  limits.connections = 2;
  Served served(echo, limits);
  RawClient one(served.server.path()), two(served.server.path());
  one.send("GET /1 HTTP/1.1\r\n\r\n");
  two.send("GET /2 HTTP/1.1\r\n\r\n");
  one.read_until("GET /1 ");
  two.read_until("GET /2 ");
  RawClient three(served.server.path());
  three.send("GET /3 HTTP/1.1\r\n\r\n");
  std::string answer = three.read_all();
  EXPECT_EQ(answer.find("GET /3"), std::string::npos);
}

TEST(Http, TcpWantsTheToken) {
  TestServer server(echo);
  auto endpoint = server.listen_tcp("127.0.0.1:0", "secret-secret");
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  server.start();
  EXPECT_EQ(http_call(TcpTarget{*endpoint, "secret-secret"}, {"GET", "/", ""})->status, 200);
  EXPECT_EQ(http_call(TcpTarget{*endpoint, "secret-secreT"}, {"GET", "/", ""})->status, 401);
  EXPECT_EQ(http_call(TcpTarget{*endpoint, ""}, {"GET", "/", ""})->status, 401);
  auto refused = http_call(TcpTarget{*endpoint, "x"}, {"POST", "/", std::string(1 << 20, 'x')});
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 401);
}

TEST(Http, TcpIsForLoopbackAndAFreePort) {
  TestServer server(echo), other(echo);
  EXPECT_THAT(server.listen_tcp("0.0.0.0:0", "token").error().message, HasSubstr("loopback only"));
  EXPECT_FALSE(server.listen_tcp("127.0.0.1:0", ""));
  auto endpoint = server.listen_tcp("127.0.0.1:0", "token");
  ASSERT_TRUE(endpoint);
  auto taken = other.listen_tcp(endpoint->to_string(), "token");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::already_exists);
  EXPECT_THAT(taken.error().message, HasSubstr(std::to_string(endpoint->port)));
}

TEST(Http, ReplacesADeadSocketAndRespectsALiveOne) {
  Served served;
  boost::asio::io_context context;
  HttpServer second(context.get_executor(), echo);
  Status live = second.listen_unix(served.server.path());
  ASSERT_FALSE(live);
  EXPECT_EQ(live.error().code, ErrorCode::already_exists);
  EXPECT_THAT(live.error().message, HasSubstr(fmt::format("process {}", getpid())));

  std::string dead = served.server.folder() / "dead.sock";
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  dead.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);
  EXPECT_TRUE(second.listen_unix(dead));

  std::string file = served.server.folder() / "file";
  std::fclose(std::fopen(file.c_str(), "w"));
  EXPECT_THAT(second.listen_unix(file).error().message, HasSubstr("is no socket"));
  EXPECT_THAT(second.listen_unix("/" + std::string(120, 'x')).error().message, HasSubstr("shorter data directory"));
  EXPECT_EQ(second.listen_unix("/nowhere/at/all.sock").error().code, ErrorCode::internal);
}

HttpResponse counting_stream(int pieces) {
  HttpResponse response;
  response.body = "first,";
  auto left = std::make_shared<int>(pieces);
  response.stream = [left]() -> boost::asio::awaitable<std::optional<std::string>> {
    auto count = left;  // the frame keeps it: the lambda may go before
    if (*count == 0) co_return std::nullopt;
    co_return --*count % 2 ? "" : fmt::format("{},", *count);
  };
  return response;
}

TEST(Http, StreamsPieceByPiece) {
  Served served([](HttpRequest) -> boost::asio::awaitable<HttpResponse> { co_return counting_stream(6); });
  auto response = http_call(served.server.target(), {"GET", "/", ""});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "first,4,2,0,");
  RawClient old(served.server.path());
  old.send("GET / HTTP/1.0\r\n\r\n");
  std::string all = old.read_all();
  EXPECT_THAT(all, testing::EndsWith("\r\n\r\nfirst,4,2,0,"));
  EXPECT_EQ(all.find("chunked"), std::string::npos);
}

TEST(Http, AHandlerThatThrowsEndsItsConnectionOnly) {
  Served served([](HttpRequest request) -> boost::asio::awaitable<HttpResponse> {
    if (request.target == "/bad") throw std::runtime_error("bad");
    co_return HttpResponse{};
  });
  EXPECT_EQ(http_call(served.server.target(), {"GET", "/bad", ""}).error().code, ErrorCode::unavailable);
  EXPECT_EQ(http_call(served.server.target(), {"GET", "/good", ""})->status, 200);
}

TEST(Http, StopLetsAnAnswerUnderWayFinish) {
  TestServer server([](HttpRequest request) -> boost::asio::awaitable<HttpResponse> {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, std::chrono::milliseconds(300));
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return co_await echo(std::move(request));
  });
  ASSERT_TRUE(server.listen_unix());
  server.start();
  RawClient idle(server.path()), busy(server.path());
  busy.send("GET /slow HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::string path = server.path();
  server.stop(seconds(5));
  EXPECT_THAT(busy.read_all(), HasSubstr("GET /slow"));
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(Http, StopDoesNotWaitForEver) {
  TestServer server([](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, std::chrono::hours(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return HttpResponse{};
  });
  ASSERT_TRUE(server.listen_unix());
  server.start();
  RawClient busy(server.path());
  busy.send("GET /hangs HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto start = std::chrono::steady_clock::now();
  server.stop(milliseconds(200));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST(HttpClient, SaysWhyThereIsNoAnswer) {
  auto nobody = http_call(UnixTarget{"/nowhere/agent.sock"}, {"GET", "/", ""});
  EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
  EXPECT_THAT(nobody.error().message, StartsWith("unix:/nowhere/agent.sock: connecting: "));
  Served slow([](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, std::chrono::seconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return HttpResponse{};
  });
  EXPECT_EQ(http_call(slow.server.target(), {"GET", "/", ""}, milliseconds(100)).error().code, ErrorCode::timed_out);
}

TEST(HttpText, TakesTargetsApart) {
  HttpUrl url = parse_http_url("/v1/jobs/a%20b?limit=5&x=%3D&y").value();
  EXPECT_EQ(url.path, (std::vector<std::string>{"v1", "jobs", "a b"}));
  EXPECT_EQ(*url.find("limit"), "5");
  EXPECT_EQ(*url.find("x"), "=");
  EXPECT_EQ(*url.find("y"), "");
  EXPECT_EQ(url.find("z"), nullptr);
  EXPECT_TRUE(parse_http_url("/").value().path.empty());
  for (const char* target : {"", "v1", "http://x/", "/%", "/%4", "/%zz", "/%00", "/?a=%1"}) {
    EXPECT_FALSE(parse_http_url(target)) << target;
  }
}

TEST(Token, IsMadeOnceAndKeptPrivate) {
  TemporaryDirectory folder;
  std::string path = folder / "api-token";
  EXPECT_EQ(load_api_token(path).error().code, ErrorCode::not_found);
  std::string token = load_or_make_api_token(path).value();
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(load_or_make_api_token(path).value(), token);
  chmod(path.c_str(), 0644);
  EXPECT_EQ(load_api_token(path).error().code, ErrorCode::denied);
  chmod(path.c_str(), 0600);
  ASSERT_EQ(truncate(path.c_str(), 3), 0);
  EXPECT_EQ(load_api_token(path).error().code, ErrorCode::corrupt);
}

TEST(Token, Compares) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* given : {"", "ab", "abcd", "abd", "abcabc"}) EXPECT_FALSE(same_secret(given, "abc")) << given;
  EXPECT_FALSE(same_secret("", ""));
}

}  // namespace
}  // namespace abacus
