// abacus sim: markets in virtual time.
#include <charconv>

#include "cli/command_set.h"
#include "cli/exit_codes.h"

namespace abacus {
namespace {

struct SimFlags {
  SimSettings settings;
  std::string seed, seeds;
  bool no_shrink = false;
};

Result<std::uint64_t> number(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 0) return static_cast<std::uint64_t>(value);
  return fail(ErrorCode::invalid, "'{}' is no seed: want a whole number from 0 to 2^63 - 1", text);
}

Status read_seeds(const SimFlags& flags, SimSettings& settings) {
  if (!flags.seed.empty() && !flags.seeds.empty()) {
    return fail(ErrorCode::invalid, "--seed and --seeds: give one of them");
  }
  std::string_view text = flags.seed.empty() ? flags.seeds : flags.seed;
  if (text.empty()) return {};
  std::size_t dash = flags.seed.empty() ? text.find('-') : std::string_view::npos;
  TRY(settings.first_seed, number(text.substr(0, dash)));
  settings.last_seed = *settings.first_seed;
  if (dash != std::string_view::npos) {
    TRY(settings.last_seed, number(text.substr(dash + 1)));
  }
  if (settings.last_seed < *settings.first_seed) return fail(ErrorCode::invalid, "--seeds {}: want FIRST-LAST", text);
  if (!settings.trace_file.empty() && settings.last_seed != *settings.first_seed) {
    return fail(ErrorCode::invalid, "--trace writes one seed only: give --seed N");
  }
  if (settings.speed && settings.last_seed != *settings.first_seed) {
    return fail(ErrorCode::invalid, "--speed measures one seed only: give --seed N");
  }
  return {};
}

int run_sim(Context& context, const SimFlags& flags) {
  SimSettings settings = flags.settings;
  settings.shrink = !flags.no_shrink;
  if (Status read = read_seeds(flags, settings); !read) return context.report(read.error());
  auto code = context.actions.simulate(settings, {context.out, context.err});
  return code ? *code : context.report(code.error());
}

}  // namespace

void add_sim_commands(CommandSet& commands) {
  auto flags = std::make_shared<SimFlags>();
  CLI::App* command =
      commands.add("sim", "Run a scenario in virtual time, over the same core, and check its invariants",
                   CommandSet::Talks::to_nobody, [flags](Context& context) { return run_sim(context, *flags); });
  command->add_option("SCENARIO", flags->settings.scenario, "A file (docs/reference/scenarios.md)")->required();
  command->add_option("--seed", flags->seed, "Instead of the scenario's own");
  command->add_option("--seeds", flags->seeds, "FIRST-LAST: one run for each");
  command->add_option("--json", flags->settings.json_file, "Write all numbers of all runs to FILE");
  command->add_option("--trace", flags->settings.trace_file, "Write what happens to FILE, one JSON object a line");
  command->add_flag("--speed", flags->settings.speed,
                    "Say how fast it ran, against the bare event heap, and what a node weighs in memory");
  command->add_flag("--no-shrink", flags->no_shrink, "Leave a scenario that fails as it is");
}

}  // namespace abacus
