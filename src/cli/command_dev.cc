// dev up, dev status, dev down: a market of several agents on this machine, for trying things out.
#include <boost/json.hpp>
#include <filesystem>

#include "api/from_json.h"
#include "cli/command_set.h"
#include "cli/dev_market.h"
#include "cli/dev_process.h"
#include "cli/exit_codes.h"
#include "cli/interrupts.h"
#include "cli/places.h"
#include "cli/render.h"

namespace abacus {
namespace {

namespace json = boost::json;
using Talks = CommandSet::Talks;

constexpr Duration kUpTime = seconds(30);
constexpr Duration kPoll = milliseconds(50);
constexpr Duration kShutdownTime = seconds(15);
constexpr Duration kTermGrace = seconds(5);
constexpr Duration kShimGrace = seconds(35);  // a shim gives its tasks the grace of their job, 30 s by default
constexpr std::uint32_t kMaxAgents = 200;

struct DevFlags {
  std::string dir;
  std::uint32_t agents = 5;
  std::string regions = "north,south";
  std::vector<std::string> capacities;
  bool json = false, quiet = false;
};

std::string dir_of(const DevFlags& flags) {
  return flags.dir.empty() ? default_dev_dir() : absolute_path(flags.dir, current_folder());
}

ProcessKey key_of(const DevAgent& agent) { return {agent.pid, agent.start_ticks}; }
ApiClient client_of(const DevAgent& agent) { return ApiClient(UnixTarget{socket_of(agent.data_dir)}); }
std::string authority_of(const std::string& dir) { return dir + "/authority"; }
std::string log_of(const DevAgent& agent) { return agent.data_dir + "/agent.log"; }

std::vector<bool> alive_in(const DevMarket& market) {
  std::vector<bool> alive;
  for (const DevAgent& agent : market.agents) alive.push_back(is_running(key_of(agent)));
  return alive;
}

Result<std::vector<std::string>> regions_of(const std::string& text) {
  std::vector<std::string> regions;
  std::stringstream parts(text);
  for (std::string region; std::getline(parts, region, ',');) {
    if (region.empty() || region.size() > 64)
      return fail(ErrorCode::invalid, "--regions {}: want names with commas between", text);
    regions.push_back(region);
  }
  if (regions.empty()) return fail(ErrorCode::invalid, "--regions: want at least one name");
  return regions;
}

void print_market(Context& context, const DevFlags& flags, const DevMarket& market) {
  std::vector<bool> alive = alive_in(market);
  if (flags.json) {
    json::value value = to_json(market);
    value.get_object()["schema"] = 1;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      value.get_object()["agents"].get_array()[i].get_object()["up"] = static_cast<bool>(alive[i]);
    }
    context.out << json::serialize(value) << "\n";
  } else if (!flags.quiet) {
    context.out << render_dev_market(market, alive);
  }
}

// ---- down ----------------------------------------------------------------------------------------------------------

/// Asks an agent to end what runs there and then itself; takes it down by signals if it does not.
Status end_agent(const DevAgent& agent) {
  if (!is_running(key_of(agent))) return {};
  auto asked = client_of(agent).post("/v1/shutdown", json::object{{"end_work", true}}, seconds(5));
  for (Duration waited; asked && waited < kShutdownTime && is_running(key_of(agent)); waited += kPoll) {
    Interrupts().sleep(kPoll);
  }
  return end_process(key_of(agent), kTermGrace);
}

/// Ends the agents, then the shims that agents which were killed left behind. First error last.
Status end_market(const DevMarket& market) {
  Status result;
  for (const DevAgent& agent : market.agents) {
    if (Status ended = end_agent(agent); !ended) result = fail(ended.error());
  }
  std::vector<ProcessKey> shims;
  for (const DevAgent& agent : market.agents) {
    for (const ProcessKey& shim : shims_of(agent.data_dir)) shims.push_back(shim);
  }
  if (Status ended = end_processes(shims, kShimGrace); !ended) result = fail(ended.error());
  return result;
}

int down(Context& context, const DevFlags& flags) {
  auto market = load_dev_market(dir_of(flags));
  if (!market) return context.report(market.error());
  if (!*market) {
    if (!flags.quiet) context.out << "no development market in " << dir_of(flags) << "\n";
    return 0;
  }
  if (Status ended = end_market(**market); !ended) return context.report(ended.error());
  forget_dev_market(dir_of(flags));
  if (!flags.quiet) context.out << fmt::format("{} agents ended\n", (*market)->agents.size());
  return 0;
}

int status(Context& context, const DevFlags& flags) {
  auto market = load_dev_market(dir_of(flags));
  if (!market) return context.report(market.error());
  if (!*market) {
    return context.report(ErrorCode::not_found,
                          fmt::format("no development market in {}: start one with `abacus dev up`", dir_of(flags)));
  }
  print_market(context, flags, **market);
  std::vector<bool> alive = alive_in(**market);
  return std::all_of(alive.begin(), alive.end(), [](bool up) { return up; }) ? 0 : kExitOther;
}

// ---- up ------------------------------------------------------------------------------------------------------------

/// Starts a market; what it started is in `market()` at every moment, and on disk.
class Starter {
 public:
  Starter(Context& context, DevMarket market) : context_(context), market_(std::move(market)) {}

  const DevMarket& market() const { return market_; }

  Status start() {
    TRY_STATUS(make_members());
    TRY(std::string program, own_program());
    TRY(std::vector<std::uint16_t> ports, free_ports(market_.agents.size()));
    std::string contact;
    for (std::size_t i = 0; i < market_.agents.size(); ++i) {
      market_.agents[i].endpoint = Endpoint::parse(fmt::format("127.0.0.1:{}", ports[i])).value();
      TRY_STATUS(start_agent(program, market_.agents[i], contact));
      if (i > 0) continue;
      TRY(AgentInfo first, wait_for_info(market_.agents[0]));
      contact = first.node.to_string() + "@" + first.endpoint.to_string();
    }
    for (const DevAgent& agent : market_.agents) TRY_STATUS(wait_until_it_knows_all(agent));
    return {};
  }

 private:
  Status make_members() {
    TRY(std::string made, context_.actions.org_init({authority_of(market_.dir), "dev", false, ""}));
    static_cast<void>(made);
    for (const DevAgent& agent : market_.agents) {
      std::filesystem::create_directories(agent.data_dir);
      TRY_STATUS(context_.actions.make_local_member({authority_of(market_.dir), agent.data_dir, agent.region}));
    }
    return {};
  }

  Status start_agent(const std::string& program, DevAgent& agent, const std::string& contact) {
    std::vector<std::string> arguments = {"agent",
                                          "--data-dir",
                                          agent.data_dir,
                                          "--listen",
                                          agent.endpoint.to_string(),
                                          "--capacity",
                                          agent.capacity,
                                          "--energy-price=" + amount(agent.energy_per_kwh)};
    if (!contact.empty()) arguments.insert(arguments.end(), {"--contact", contact});
    TRY(ProcessKey process, start_detached(program, arguments, log_of(agent)));
    agent.pid = process.pid;
    agent.start_ticks = process.start_ticks;
    return save_dev_market(market_);
  }

  /// "0.12" for "0.12 cr": as parse_money reads it.
  static std::string amount(Money money) {
    std::string text = to_string(money);
    return text.substr(0, text.find(' '));
  }

  /// Asks again until `good` holds of the answer. Errors: `unavailable` with the end of the log.
  template <class Good>
  Result<json::value> wait_for(const DevAgent& agent, const char* path, Good good) {
    for (; waited_ < kUpTime; waited_ += kPoll) {
      auto answer = client_of(agent).get(path, seconds(5));
      if (answer && good(*answer)) return *answer;
      if (!is_running(key_of(agent))) {
        return fail(ErrorCode::unavailable, "{} ended at once; its log {} says:\n{}", agent.name, log_of(agent),
                    tail_of(log_of(agent), 10));
      }
      Interrupts().sleep(kPoll);
    }
    return fail(ErrorCode::unavailable,
                "the market is not complete after {}: {} does not answer, or does not know all; its "
                "log {} says:\n{}",
                to_string(kUpTime), agent.name, log_of(agent), tail_of(log_of(agent), 10));
  }

  Result<AgentInfo> wait_for_info(const DevAgent& agent) {
    TRY(json::value info, wait_for(agent, "/v1/info", [](const json::value&) { return true; }));
    return from_json<AgentInfo>(info);
  }

  Status wait_until_it_knows_all(const DevAgent& agent) {
    TRY(json::value nodes, wait_for(agent, "/v1/nodes", [this](const json::value& answer) {
          const json::value* list = answer.is_object() ? answer.get_object().if_contains("nodes") : nullptr;
          return list && list->is_array() && list->get_array().size() >= market_.agents.size();
        }));
    static_cast<void>(nodes);
    return {};
  }

  Context& context_;
  DevMarket market_;
  Duration waited_;
};

/// Makes room for a new market: an earlier one that is down is deleted, one that is up is an error, and so is a folder
/// that is no market's.
Status clear_way(const std::string& dir) {
  TRY(std::optional<DevMarket> old, load_dev_market(dir));
  if (!old) {
    std::error_code error;
    if (!std::filesystem::exists(dir, error) || std::filesystem::is_empty(dir, error)) return {};
    if (std::filesystem::exists(authority_of(dir) + "/org.key", error)) {  // the remains of a market that was ended
      for (const auto& entry : std::filesystem::directory_iterator(dir, error))
        std::filesystem::remove_all(entry.path(), error);
      return {};
    }
    return fail(ErrorCode::already_exists, "{} is not empty and no development market: choose another --dir", dir);
  }
  std::vector<bool> alive = alive_in(*old);
  auto up = std::count(alive.begin(), alive.end(), true);
  if (up > 0) {
    return fail(ErrorCode::already_exists,
                "a development market is up in {} ({} of {} agents run): `abacus dev status` shows "
                "it, `abacus dev down` ends it",
                dir, up, alive.size());
  }
  TRY_STATUS(end_market(*old));
  forget_dev_market(dir);
  std::error_code error;
  std::filesystem::remove_all(authority_of(dir), error);
  for (const DevAgent& agent : old->agents) std::filesystem::remove_all(agent.data_dir, error);
  return {};
}

Result<DevMarket> planned(Context& context, const DevFlags& flags) {
  TRY(std::vector<std::string> regions, regions_of(flags.regions));
  TRY(Capacity machine, context.actions.probe_machine());
  DevMarket market{dir_of(flags), plan_dev_agents(dir_of(flags), flags.agents, regions, machine)};
  for (std::size_t i = 0; !flags.capacities.empty() && i < market.agents.size(); ++i) {
    market.agents[i].capacity = flags.capacities[i % flags.capacities.size()];
  }
  return market;
}

int up(Context& context, const DevFlags& flags) {
  auto market = planned(context, flags);
  if (!market) return context.report(market.error());
  if (Status clear = clear_way(market->dir); !clear) return context.report(clear.error());
  std::error_code error;
  std::filesystem::create_directories(market->dir, error);
  std::filesystem::permissions(market->dir, std::filesystem::perms::owner_all, error);
  Starter starter(context, std::move(*market));
  if (Status started = starter.start(); !started) {
    Status ended = end_market(starter.market());
    forget_dev_market(starter.market().dir);
    if (!ended) context.report(ended.error());
    return context.report(started.error());
  }
  print_market(context, flags, starter.market());
  if (!flags.json && !flags.quiet) {
    context.out << "\ntry: abacus run -- uname -a; abacus nodes; abacus explain last; abacus dev down\n";
  }
  return 0;
}

CLI::App* add(CommandSet& commands, CLI::App* dev, const char* name, const char* help, std::shared_ptr<DevFlags> flags,
              int (*action)(Context&, const DevFlags&)) {
  CLI::App* command = commands.add_below(dev, name, help, Talks::to_nobody,
                                         [flags, action](Context& context) { return action(context, *flags); });
  command->add_option("--dir", flags->dir, "Where it lives (default DATA-DIR/dev)");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but errors");
  return command;
}

}  // namespace

void add_dev_commands(CommandSet& commands) {
  CLI::App* dev = commands.add_group("dev", "A market of several agents on this machine");
  auto flags = std::make_shared<DevFlags>();
  CLI::App* up_command = add(commands, dev, "up", "Start one: agents of different sizes and energy prices", flags, up);
  up_command->add_option("--agents", flags->agents, "How many (default 5)")->check(CLI::Range(1u, kMaxAgents));
  up_command->add_option("--regions", flags->regions, "Names with commas between (default north,south)");
  up_command
      ->add_option("--capacity", flags->capacities, "Of the agents in turn, instead of sizes that fit the machine")
      ->expected(1)
      ->take_all();
  up_command->add_flag("--json", flags->json, "Print JSON");
  CLI::App* status_command = add(commands, dev, "status", "Show it; code 123 if an agent is down", flags, status);
  status_command->add_flag("--json", flags->json, "Print JSON");
  add(commands, dev, "down", "End exactly what dev up started, and what runs there", flags, down);
}

}  // namespace abacus
