// The command line of the one program `abacus`.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "base/result.h"
#include "cli/settings.h"
#include "protocol/resources.h"

namespace abacus {

/// Where commands print. References stay with the caller.
struct CliStreams {
  std::ostream& out;
  std::ostream& err;
};

/// What commands need of the rest of the program. All are set by main/; each Result's text is a sentence for the user.
struct CliActions {
  std::string version;
  std::function<Status(const AgentSettings&)> run_agent;  ///< Returns when the agent has stopped.
  std::function<Result<std::string>(const OrgSettings&)> org_init;
  std::function<Result<std::string>(const JoinSettings&)> join;
  std::function<Status(const LocalMemberSettings&)> make_local_member;
  std::function<Result<Capacity>()> probe_machine;
  std::function<Result<int>(const SimSettings&, const CliStreams&)> simulate;  ///< The exit code.
};

/// Runs one command and returns the program's exit code (cli/exit_codes.h). Blocks SIGINT and SIGTERM in the calling
/// thread during `run` only.
int run_cli(int argc, const char* const* argv, const CliActions& actions, CliStreams streams);

/// On std::cout and std::cerr.
int run_cli(int argc, const char* const* argv, const CliActions& actions);

/// docs/reference/cli.md, from the commands as they are.
std::string cli_reference();

}  // namespace abacus
