// agent, org, join, drain, version: commands for who operates a node.
#include <boost/json.hpp>

#include "api/from_json.h"
#include "base/time_text.h"
#include "cli/agent_config.h"
#include "cli/command_set.h"
#include "cli/exit_codes.h"
#include "cli/places.h"

namespace abacus {
namespace {

namespace json = boost::json;
using Talks = CommandSet::Talks;

int run_agent(Context& context, const AgentTexts& texts) {
  auto settings = agent_settings_of(texts);
  if (!settings) return context.report(settings.error());
  Status ran = context.actions.run_agent(*settings);
  return ran ? 0 : context.report(ran.error());
}

int print_sentence(Context& context, const Result<std::string>& sentence) {
  if (!sentence) return context.report(sentence.error());
  context.out << *sentence << "\n";
  return 0;
}

std::string data_dir_or_default(const std::string& given) {
  return given.empty() ? default_data_dir() : absolute_path(given, current_folder());
}

struct JoinFlags {
  std::string agent, token, data_dir, region;
};

int join(Context& context, const JoinFlags& flags) {
  auto address = parse_host_port(flags.agent);
  if (!address) return context.report(address.error());
  JoinSettings settings{data_dir_or_default(flags.data_dir), address->first, address->second, flags.token,
                        flags.region};
  return print_sentence(context, context.actions.join(settings));
}

struct TokenFlags {
  std::string ttl = "1h";
  std::uint32_t uses = 1;
};

int new_token(Context& context, const TokenFlags& flags) {
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  auto answer = agent->post("/v1/tokens", json::object{{"ttl", flags.ttl}, {"uses", flags.uses}});
  if (!answer) return context.report(answer.error());
  if (context.print_json(*answer)) return 0;
  auto token = from_json<EnrolToken>(*answer);
  if (!token) return context.report(token.error());
  if (context.flags.quiet) {
    context.out << token->token << "\n";
    return 0;
  }
  auto about = agent->get("/v1/info");
  auto info = about ? from_json<AgentInfo>(*about) : Result<AgentInfo>(fail(about.error()));
  context.out << fmt::format("good until {} for {} node{}; on the new machine:\n  abacus join {} --token {}\n",
                             utc_text(token->expires_at), token->uses, token->uses == 1 ? "" : "s",
                             info ? info->endpoint.to_string() : "HOST:PORT", token->token);
  return 0;
}

int drain(Context& context, bool off) {
  auto agent = context.agent();
  if (!agent) return context.report(agent.error());
  auto answer = agent->post("/v1/drain", json::object{{"on", !off}});
  if (!answer) return context.report(answer.error());
  if (context.print_json(*answer) || context.flags.quiet) return 0;
  context.out << (off ? "the agent sells again\n" : "the agent sells nothing more; what runs there goes on\n");
  return 0;
}

int version(Context& context) {
  context.out << "abacus " << context.actions.version << "\n";
  return 0;
}

void add_org(CommandSet& commands) {
  CLI::App* org = commands.add_group("org", "Make an organisation and let nodes into it");
  auto settings = std::make_shared<OrgSettings>();
  CLI::App* init = commands.add_below(org, "init", "Make a new organisation; this node is its first member",
                                      Talks::to_nobody, [settings](Context& context) {
                                        settings->data_dir = data_dir_or_default(settings->data_dir);
                                        return print_sentence(context, context.actions.org_init(*settings));
                                      });
  init->add_option("--name", settings->name, "The organisation's, for people")->required();
  init->add_option("--data-dir", settings->data_dir,
                   "Where its key goes (default $ABACUS_HOME or ~/.local/share/abacus)");
  init->add_option("--region", settings->region, "Of this node, vouched for by the organisation");

  auto token = std::make_shared<TokenFlags>();
  CLI::App* new_one = commands.add_below(org, "token", "Make a token with which a node can join", Talks::to_agent,
                                         [token](Context& context) { return new_token(context, *token); });
  new_one->add_option("--ttl", token->ttl, "How long it is good for (default 1h)");
  new_one->add_option("--uses", token->uses, "How many nodes may use it (default 1)")->check(CLI::Range(1u, 100'000u));
}

}  // namespace

void add_agent_commands(CommandSet& commands) {
  auto texts = std::make_shared<AgentTexts>();
  add_agent_flags(commands.add("agent", "Run this machine's agent", Talks::to_nobody,
                               [texts](Context& context) { return run_agent(context, *texts); }),
                  *texts);
  add_org(commands);

  auto joined = std::make_shared<JoinFlags>();
  CLI::App* join_command = commands.add("join", "Make this node a member of an organisation", Talks::to_nobody,
                                        [joined](Context& context) { return join(context, *joined); });
  join_command->add_option("host:port", joined->agent, "An agent that holds the organisation's key")->required();
  join_command->add_option("--token", joined->token, "From `abacus org token`")->required();
  join_command->add_option("--data-dir", joined->data_dir,
                           "Of this node (default $ABACUS_HOME or ~/.local/share/abacus)");
  join_command->add_option("--region", joined->region,
                           "Of this node; shown as self-declared unless the token fixes it");

  auto off = std::make_shared<bool>(false);
  commands
      .add("drain", "Sell nothing more; running work goes on", Talks::to_agent,
           [off](Context& context) { return drain(context, *off); })
      ->add_flag("--off", *off, "Sell again");
  commands.add("version", "Print the version", Talks::to_nobody, version);
}

}  // namespace abacus
