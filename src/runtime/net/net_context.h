// What the parts of one transport share: the loop, TLS settings, limits, counters, the log. Internal to runtime/net.
#pragma once

#include <spdlog/logger.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "runtime/net/tls_context.h"
#include "runtime/net/transport.h"

namespace abacus {

struct NetContext {
  boost::asio::io_context& io;
  std::shared_ptr<TlsContext> tls;
  NodeIdentity identity;
  TransportOptions options;
  TransportStats stats = {};
  /// Where every stream reads into: nothing stays in it over a suspension.
  Bytes read_buffer = Bytes(64 * 1024);
  /// Called once, when the transport ends: each server ends its connections.
  std::vector<std::function<void()>> on_stop = {};

  /// Logs a warning when there is a log.
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    if (options.log) options.log->warn(fmt::format(format, std::forward<Args>(args)...));
  }
};

/// Starts a coroutine on the loop and keeps `owner`, whose member it is, alive until it ends. An exception that leaves
/// it is a bug and comes out of io_context::run.
template <class Owner>
void spawn(boost::asio::io_context& io, std::shared_ptr<Owner> owner, boost::asio::awaitable<void> coroutine) {
  boost::asio::co_spawn(io, std::move(coroutine), [owner = std::move(owner)](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

}  // namespace abacus
