// Reading the command line: commands and flags by CLI11, mistakes explained here.
#include "cli/cli.h"

#include <algorithm>
#include <iostream>

#include "api/suggest.h"
#include "cli/command_set.h"
#include "cli/exit_codes.h"

namespace abacus {
namespace {

constexpr const char* kAbout = "Iron Abacus places compute work without a scheduler: agents ask each other for quotes.";
constexpr const char* kFooter =
    "First steps: abacus dev up; abacus run -- uname -a; abacus explain last\n"
    "Exit codes of run and wait: the task's own, 128+signal, 120 unplaceable, 121 time, 122 no agent, 123 lost or "
    "other.";

/// The whole command line: the application, its commands, and the flags they share.
struct Program {
  CLI::App app{kAbout, "abacus"};
  CommonFlags common;
  CommandSet commands{app, common};

  Program() {
    app.allow_extras();
    app.set_help_flag("-h,--help", "Print this help");
    app.get_formatter()->column_width(34);
    add_agent_commands(commands);
    add_dev_commands(commands);
    add_submit_commands(commands);
    add_job_commands(commands);
    add_replay_command(commands);
    add_sim_commands(commands);
    app.footer(kFooter);  // last: commands made later would inherit it
  }
};

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// "abacus dev up" for the command that was reached.
std::string path_of(const CLI::App& command) {
  return command.get_parent() ? path_of(*command.get_parent()) + " " + command.get_name() : command.get_name();
}

std::string help_of(const CLI::App& command) {
  return command.help(command.get_parent() ? path_of(*command.get_parent()) : "");
}

const CLI::App& reached(const CLI::App& app) {
  auto below = app.get_subcommands();
  return below.empty() ? app : reached(*below.front());
}

/// "unknown WHAT; did you mean RIGHT? `abacus run --help` LISTS".
std::string unknown(const std::string& what, const std::string& word, const std::vector<std::string>& names,
                    const CLI::App& command, const char* lists) {
  std::string right = nearest_name(word, names);
  return fmt::format("unknown {} {}{} `{} --help` {}", what, word,
                     right.empty() ? ":" : "; did you mean " + right + "?", path_of(command), lists);
}

/// What the words are that no command wanted; empty if all is well.
std::string complaint(const CLI::App& app) {
  const CLI::App& command = reached(app);
  std::vector<std::string> commands = names_of_commands(command);
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with("-") && word != "-") {
      return unknown("option", word.substr(0, word.find('=')), names_of_options(command), command,
                     "lists the options; a program's own go after --");
    }
    if (!commands.empty()) return unknown("command", word, commands, command, "lists the commands");
    return fmt::format("'{}' is one word too many: `{} --help` shows what it takes", word, path_of(command));
  }
  if (!commands.empty()) return fmt::format("which command? `{} --help` lists them", path_of(command));
  return "";
}

int usage_error(const CliStreams& streams, const std::string& message) {
  streams.err << "abacus: " << message << "\n";
  return kExitUsage;
}

/// CLI11 takes the words last first.
int run_words(std::vector<std::string> words, std::vector<std::string> after_dashes, const CliActions& actions,
              CliStreams streams) {
  Program program;
  std::reverse(words.begin(), words.end());
  try {
    program.app.parse(words);
  } catch (const CLI::CallForHelp&) {
    streams.out << help_of(reached(program.app));
    return 0;
  } catch (const CLI::ParseError& error) {
    std::string extra = complaint(program.app);
    bool better = extra.starts_with("unknown");
    return usage_error(
        streams, better ? extra : fmt::format("{}. `{} --help` explains", error.what(), path_of(reached(program.app))));
  }
  if (std::string wrong = complaint(program.app); !wrong.empty()) return usage_error(streams, wrong);
  Context context{actions, streams.out, streams.err, program.common, std::move(after_dashes)};
  return program.commands.chosen()(context);
}

void append_reference(std::string& text, const CLI::App& command) {
  std::vector<CLI::App*> below = const_cast<CLI::App&>(command).get_subcommands([](const CLI::App*) { return true; });
  if (below.empty()) {
    text += fmt::format("\n## {}\n\n```text\n{}```\n", path_of(command), help_of(command));
  }
  for (const CLI::App* next : below) append_reference(text, *next);
}

}  // namespace

int run_cli(int argc, const char* const* argv, const CliActions& actions, CliStreams streams) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc), after_dashes;
  auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    after_dashes.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  if (words.size() == 1 && words[0] == "reference") {
    streams.out << cli_reference();
    return 0;
  }
  if (words.size() == 1 && words[0] == "--version") words[0] = "version";
  if (words.empty()) words = {"--help"};
  return run_words(std::move(words), std::move(after_dashes), actions, streams);
}

int run_cli(int argc, const char* const* argv, const CliActions& actions) {
  return run_cli(argc, argv, actions, CliStreams{std::cout, std::cerr});
}

std::string cli_reference() {
  Program program;
  std::string text = fmt::format(
      "# The command line\n\nWritten by `abacus reference` from the commands themselves; a test compares the "
      "two.\n\n{}\n",
      kFooter);
  append_reference(text, program.app);
  return text;
}

}  // namespace abacus
