// Socket reads and writes of the shim.
#include "runtime/exec/shim/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace abacus::shim {

void Connection::open(int fd) {
  close();
  fd_ = fd;
}

void Connection::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  broken_ = false;
  in_ = wire::FrameReader();
  out_ = std::string();
  sent_ = 0;
}

bool Connection::receive() {
  char block[16384];
  ssize_t n = ::recv(fd_, block, sizeof block, 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  in_.push({block, static_cast<std::size_t>(n)});
  return n > 0;
}

std::optional<wire::Message> Connection::next() {
  auto frame = in_.next();
  if (!frame) {
    broken_ = broken_ || in_.broken();
    return std::nullopt;
  }
  auto message = wire::decode(*frame);
  if (!message) broken_ = true;
  return message;
}

void Connection::send(const wire::Message& message) {
  if (connected()) wire::encode(message, out_);
}

bool Connection::flush() {
  while (has_pending()) {
    ssize_t n = ::send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    sent_ += static_cast<std::size_t>(n);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

}  // namespace abacus::shim
