// Socket reads and writes of the agent.
#include "runtime/exec/shim_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>

namespace abacus {
namespace {

constexpr int kBacklog = 8;
const char kSocketName[] = "control";

sockaddr_un address_of(const SocketPath& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.path.c_str(), sizeof address.sun_path - 1);
  return address;
}

}  // namespace

SocketPath::SocketPath(const std::string& directory)
    : directory_fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      path(fmt::format("/proc/self/fd/{}/{}", directory_fd, kSocketName)) {}

SocketPath::~SocketPath() {
  if (directory_fd >= 0) ::close(directory_fd);
}

Result<int> listen_in(const std::string& directory) {
  SocketPath path(directory);
  sockaddr_un address = address_of(path);
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool bound = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (bound && ::listen(fd, kBacklog) == 0) return fd;
  std::string reason = std::strerror(errno);
  if (fd >= 0) ::close(fd);
  return fail(ErrorCode::unavailable, "no socket '{}/{}' can be made: {}", directory, kSocketName, reason);
}

ShimLink::ShimLink(boost::asio::any_io_executor executor, Callbacks callbacks)
    : socket_(std::move(executor)), callbacks_(std::move(callbacks)) {}

Status ShimLink::connect(const std::string& directory) {
  SocketPath path(directory);
  sockaddr_un address = address_of(path);
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(ErrorCode::unavailable, "no socket for '{}': {}", directory, std::strerror(errno));
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    int error = errno;
    ::close(fd);
    ErrorCode code = error == EAGAIN ? ErrorCode::unavailable : ErrorCode::not_found;
    return fail(code, "no shim answers in '{}': {}", directory, std::strerror(error));
  }
  boost::system::error_code error;
  socket_.assign(boost::asio::local::stream_protocol(), fd, error);
  if (error) {
    ::close(fd);
    return fail(ErrorCode::unavailable, "the connection to the shim in '{}' cannot be watched: {}", directory,
                error.message());
  }
  send(wire::Hello{});
  read();
  return {};
}

void ShimLink::send(const wire::Message& message) {
  wire::encode(message, queued_);
  write();
}

void ShimLink::send_encoded(std::string_view frame) {
  queued_.append(frame);
  write();
}

void ShimLink::close() {
  closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void ShimLink::read() {
  socket_.async_read_some(boost::asio::buffer(block_),
                          [self = shared_from_this()](boost::system::error_code error, std::size_t count) {
                            if (self->closed_) return;
                            if (error) return self->fail_link();
                            self->on_read(count);
                          });
}

void ShimLink::on_read(std::size_t count) {
  frames_.push({block_.data(), count});
  while (auto frame = frames_.next()) {
    auto message = wire::decode(*frame);
    if (!message) return fail_link();
    callbacks_.message(*message);
    if (closed_) return;
  }
  if (frames_.broken()) return fail_link();
  read();
}

void ShimLink::write() {
  if (closed_ || !writing_.empty() || queued_.empty()) return;
  std::swap(writing_, queued_);
  boost::asio::async_write(socket_, boost::asio::buffer(writing_),
                           [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                             self->writing_.clear();
                             // A broken connection is noticed by the reading side, after all that was sent is read.
                             if (!error) self->write();
                           });
}

void ShimLink::fail_link() {
  close();
  callbacks_.lost();
}

}  // namespace abacus
