// What every command shares: its flags, its agent, where it prints; and the list that commands add themselves to.
#pragma once

#include <CLI/CLI.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "api/client.h"
#include "cli/cli.h"

namespace abacus {

/// The flags that every command has which talks to an agent.
struct CommonFlags {
  bool json = false;
  bool quiet = false;
  std::string agent;
  std::string agent_token;
};

/// Handed to a command when it runs.
struct Context {
  const CliActions& actions;
  std::ostream& out;
  std::ostream& err;
  CommonFlags flags;
  std::vector<std::string> after_dashes;  ///< The words after "--".

  /// The agent that the flags, the environment or the data directory name. Errors: `invalid`, `unavailable` (none
  /// found: where it was looked for and how to start one).
  Result<ApiClient> agent() const;

  /// Prints "abacus: MESSAGE" and returns the exit code that goes with it.
  int report(const Error& error) const;
  int report(ErrorCode code, std::string message) const { return report(Error{code, std::move(message)}); }

  /// With --json prints the API's answer as it is and returns true.
  bool print_json(const boost::json::value& answer) const;
};

using CommandAction = std::function<int(Context&)>;

/// The commands of the program while their flags are read.
class CommandSet {
 public:
  CommandSet(CLI::App& app, CommonFlags& common) : app_(app), common_(common) {}

  enum class Talks { to_agent, to_nobody };

  /// A command "NAME", or "GROUP NAME" below another. What it does is `action`, once its flags are read.
  CLI::App* add(const std::string& name, const std::string& help, Talks talks, CommandAction action);
  CLI::App* add_below(CLI::App* group, const std::string& name, const std::string& help, Talks talks,
                      CommandAction action);
  /// A word that only has commands below it.
  CLI::App* add_group(const std::string& name, const std::string& help);

  /// What the user asked for; empty if nothing.
  const CommandAction& chosen() const { return chosen_; }

 private:
  CLI::App& app_;
  CommonFlags& common_;
  CommandAction chosen_;
};

void add_agent_commands(CommandSet& commands);   // agent, org init, org token, join, drain, version
void add_submit_commands(CommandSet& commands);  // run, submit, plan
void add_job_commands(CommandSet& commands);     // ps, show, logs, wait, cancel, explain, nodes
void add_dev_commands(CommandSet& commands);     // dev up, dev status, dev down
void add_replay_command(CommandSet& commands);   // replay
void add_sim_commands(CommandSet& commands);     // sim

}  // namespace abacus
