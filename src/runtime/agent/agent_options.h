// What an agent is started with.
#pragma once

#include <spdlog/logger.h>

#include <boost/asio/any_io_executor.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/driver/world.h"
#include "core/node_config.h"
#include "protocol/offer.h"
#include "protocol/resources.h"
#include "runtime/exec/executor.h"

namespace abacus {

/// Makes the executor of an agent: for back ends other than plain processes, and for benchmarks that start nothing.
using ExecutorFactory = std::function<std::unique_ptr<Executor>(boost::asio::any_io_executor loop,
                                                                const std::filesystem::path& data_dir, ExecSink)>;

struct AgentOptions {
  std::filesystem::path data_dir;     ///< Identity, journal, store, leases: everything that is this agent's.
  Endpoint listen;                    ///< Port 0 lets the system choose.
  std::optional<Endpoint> advertise;  ///< Where others reach it, if not where it listens.
  std::string region;                 ///< Empty: as its certificate says.
  Capacity capacity;                  ///< What it sells.
  PricingConfig pricing;
  SellingConfig selling;
  BuyingConfig buying;
  OverlayConfig overlay;
  std::vector<Contact> contacts;  ///< Besides those remembered in the data directory.
  bool limits = true;             ///< Give tasks cgroup limits where the host has them.
  std::uint64_t store_cap_bytes = 10ull << 30;
  Recorder* recorder = nullptr;                ///< Hears of the node's inputs; outlives the agent.
  ExecutorFactory make_executor;               ///< Empty: processes under shims.
  InhabitantFactory make_inhabitant;           ///< Empty: the driver of the shipped node. Tests of ports have none.
  std::function<void(const Error&)> on_fatal;  ///< The journal cannot be read any more: the agent does nothing further.
  std::shared_ptr<spdlog::logger> log;
};

}  // namespace abacus
