// The settings of an agent from its configuration file and flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/settings.h"

namespace abacus {

/// The settings as texts, as they stand in flags and file. Empty: not given.
struct AgentTexts {
  std::string config, data_dir, listen, advertise, api_port, region, capacity, energy_price, cpu_price, memory_price;
  std::string log_level, limits, record, record_max;
  std::vector<std::string> contacts;
};

void add_agent_flags(CLI::App* command, AgentTexts& texts);

/// Flags over file over defaults. Errors: `invalid`, naming the flag or the file's field; `not_found` (the file).
Result<AgentSettings> agent_settings_of(AgentTexts flags);

/// "HOST:PORT" or "[ADDRESS]:PORT". Errors: `invalid`.
Result<std::pair<std::string, std::uint16_t>> parse_host_port(const std::string& text);

}  // namespace abacus
