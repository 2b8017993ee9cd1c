// What the rooms of an agent share: the loop, the pool, the way into the driver, the log.
#pragma once

#include <spdlog/logger.h>

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

#include "core/model/event.h"
#include "protocol/offer.h"
#include "runtime/data/bulk_client.h"

namespace abacus {

/// Functions are called on the loop's thread only; `loop` runs one handler at a time.
struct AgentPorts {
  boost::asio::any_io_executor loop;
  boost::asio::any_io_executor pool;                     ///< For what blocks or burns.
  std::function<void(Event)> post;                       ///< To the driver.
  std::function<BulkRequestFn(const Contact&)> bulk_to;  ///< Bulk requests to a peer.
  std::shared_ptr<spdlog::logger> log;
  NodeId self;
};

}  // namespace abacus
