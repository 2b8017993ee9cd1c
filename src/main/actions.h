// What the command line's commands do that needs the runtime. Each is wired into CliActions by main.cc.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "protocol/resources.h"

namespace abacus {

/// Runs an agent until SIGINT, SIGTERM or a shutdown request. Errors: those of Agent::start and of the API's sockets.
Status run_agent(const AgentSettings& settings);

Result<std::string> init_organisation(const OrgSettings& settings);
Result<std::string> join_organisation(const JoinSettings& settings);
Status make_local_member(const LocalMemberSettings& settings);

/// Runs a scenario in virtual time; prints what came of it. The exit code: 0 if all is as it should be. Errors: a
/// scenario that cannot be read, an output that cannot be written.
Result<int> simulate(const SimSettings& settings, const CliStreams& streams);

/// What this machine has to sell.
Result<Capacity> probe_machine();

/// The same with a --capacity text applied; `disk_directory` is where the agent keeps its data.
Result<Capacity> declared_capacity(const std::string& text, const std::string& disk_directory);

}  // namespace abacus
