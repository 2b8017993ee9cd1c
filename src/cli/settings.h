// What the command line and the configuration file say about starting and joining: plain values for main/ to act on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/endpoint.h"
#include "base/money.h"
#include "protocol/offer.h"

namespace abacus {

/// `abacus agent`.
struct AgentSettings {
  std::string data_dir;
  Endpoint listen;                    ///< For peers. Port 0 lets the system choose.
  std::optional<Endpoint> advertise;  ///< Where peers reach it, if not where it listens.
  std::optional<std::uint16_t>
      api_port;                         ///< Of the API on 127.0.0.1; none: unix socket only. 0 lets the system choose.
  std::string region;                   ///< Empty: as the node's certificate says.
  std::string capacity;                 ///< As in runtime/devices/capacity_text.h; empty: all that is found.
  std::vector<Contact> contacts;        ///< Peers to begin with, besides those remembered.
  std::optional<Money> energy_per_kwh;  ///< None: the default of PricingConfig; likewise below.
  std::optional<Money> cpu_per_hour;    ///< Capacity rate of one CPU.
  std::optional<Money> memory_per_gib_hour;  ///< Capacity rate of one GiB of memory.
  bool limits = true;                        ///< Fence tasks with cgroups where the host has them.
  std::string log_level = "info";            ///< debug, info, warn, error.
  std::string record;                        ///< The file to which the core's inputs are recorded; empty: none.
  std::uint64_t record_max = 1ull << 30;     ///< Bytes at which the recording stops.
};

/// `abacus org init`: a new organisation, whose authority lives in `data_dir`.
struct OrgSettings {
  std::string data_dir;
  std::string name;
  bool member = true;  ///< Makes the node of this data directory the first member as well.
  std::string region;  ///< Of that node.
};

/// `abacus join`: this data directory's node becomes a member through an agent that holds the authority.
struct JoinSettings {
  std::string data_dir;
  std::string host;
  std::uint16_t port = 0;
  std::string token;
  std::string region;
};

/// `abacus sim`.
struct SimSettings {
  std::string scenario;                     ///< A file.
  std::optional<std::uint64_t> first_seed;  ///< None: the scenario's own, and only that.
  std::uint64_t last_seed = 0;
  std::string json_file;   ///< Empty: none; likewise below.
  std::string trace_file;  ///< Of one seed only.
  bool shrink = true;      ///< Makes a scenario that fails smaller, and writes it down.
  bool speed = false;      ///< Says how fast it was, and what a node weighs; of one seed only.
};

/// A node made a member by whoever holds the authority's folder, without a network: for `abacus dev up`.
struct LocalMemberSettings {
  std::string authority_dir;
  std::string data_dir;
  std::string region;
};

}  // namespace abacus
