// Adding commands, and what they share.
#include "cli/command_set.h"

#include <boost/json.hpp>

#include "cli/agent_target.h"
#include "cli/exit_codes.h"

namespace abacus {

CLI::App* CommandSet::add(const std::string& name, const std::string& help, Talks talks, CommandAction action) {
  return add_below(&app_, name, help, talks, std::move(action));
}

CLI::App* CommandSet::add_below(CLI::App* group, const std::string& name, const std::string& help, Talks talks,
                                CommandAction action) {
  CLI::App* command = group->add_subcommand(name, help);
  command->allow_extras();  // found and explained by run_cli
  command->callback([this, action = std::move(action)] { chosen_ = action; });
  if (talks == Talks::to_nobody) return command;
  command->add_flag("--json", common_.json, "Print the agent's JSON as it is")->group("Everywhere");
  command->add_flag("-q,--quiet", common_.quiet, "Print ids only, or nothing")->group("Everywhere");
  command->add_option("--agent", common_.agent, "Socket, data directory, http://127.0.0.1:PORT, or name of a dev agent")
      ->group("Everywhere");
  command->add_option("--agent-token", common_.agent_token, "For an agent named by http://")->group("Everywhere");
  return command;
}

CLI::App* CommandSet::add_group(const std::string& name, const std::string& help) {
  CLI::App* group = app_.add_subcommand(name, help);
  group->allow_extras();
  return group;
}

Result<ApiClient> Context::agent() const {
  TRY(HttpTarget target, find_agent(flags.agent, flags.agent_token));
  return ApiClient(std::move(target));
}

int Context::report(const Error& error) const {
  err << "abacus: " << error.message << "\n";
  return exit_code_of(error);
}

bool Context::print_json(const boost::json::value& answer) const {
  if (flags.json) out << boost::json::serialize(answer) << "\n";
  return flags.json;
}

}  // namespace abacus
