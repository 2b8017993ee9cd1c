// A BIO whose reads and writes are recv and send on a descriptor that it does not own.
#include "runtime/net/socket_bio.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "base/check.h"

namespace abacus {
namespace {

struct SocketState {
  int descriptor = -1;
  bool ended = false;
};

SocketState& state_of(BIO* bio) { return *static_cast<SocketState*>(BIO_get_data(bio)); }

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int socket_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  ssize_t put = send(state_of(bio).descriptor, data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (put < 0 && would_block()) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

int socket_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  ssize_t got = recv(state_of(bio).descriptor, data, static_cast<std::size_t>(size), 0);
  if (got < 0 && would_block()) BIO_set_retry_read(bio);
  if (got == 0) state_of(bio).ended = true;
  return static_cast<int>(got);
}

long socket_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return state_of(bio).ended ? 1 : 0;
  return 0;
}

int socket_destroy(BIO* bio) {
  delete static_cast<SocketState*>(BIO_get_data(bio));
  BIO_set_data(bio, nullptr);
  return 1;
}

const BIO_METHOD* make_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "abacus socket");
  CHECK_MSG(method != nullptr, "out of memory");
  BIO_meth_set_write(method, socket_write);
  BIO_meth_set_read(method, socket_read);
  BIO_meth_set_ctrl(method, socket_control);
  BIO_meth_set_destroy(method, socket_destroy);
  return method;
}

}  // namespace

BIO* new_socket_bio(int descriptor) {
  static const BIO_METHOD* const method = make_method();  // a constant table of functions
  BIO* bio = BIO_new(method);
  CHECK_MSG(bio != nullptr, "out of memory");
  BIO_set_data(bio, new SocketState{descriptor, false});
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace abacus
