// Looks for an agent's socket in the places that are documented.
#include "cli/agent_target.h"

#include <cstdlib>
#include <filesystem>

#include "api/token.h"
#include "cli/dev_market.h"
#include "cli/places.h"

namespace abacus {
namespace {

std::string or_variable(const std::string& value, const char* name) {
  if (!value.empty()) return value;
  const char* found = std::getenv(name);
  return found ? found : "";
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<HttpTarget> over_tcp(const std::string& url, const std::string& given_token) {
  std::string address = url.substr(url.find("://") + 3);
  while (!address.empty() && address.back() == '/') address.pop_back();
  TRY(Endpoint endpoint, Endpoint::parse(address));
  std::string token = or_variable(given_token, "ABACUS_AGENT_TOKEN");
  if (token.empty()) {
    auto stored = load_api_token(token_file_of(default_data_dir()));
    if (!stored) {
      return fail(ErrorCode::invalid, "an agent at {} wants its token: give --agent-token or ABACUS_AGENT_TOKEN; {}",
                  url, stored.error().message);
    }
    token = *stored;
  }
  return HttpTarget(TcpTarget{endpoint, token});
}

/// The socket of a dev agent; empty if there is no such one. Without a name: the first.
std::string dev_socket(const std::string& name) {
  auto market = load_dev_market(default_dev_dir());
  if (!market || !*market) return "";
  for (const DevAgent& agent : (*market)->agents) {
    if (name.empty() || agent.name == name) return socket_of(agent.data_dir);
  }
  return "";
}

Result<HttpTarget> any_agent() {
  std::string own = socket_of(default_data_dir()), dev = dev_socket("");
  if (exists(own)) return HttpTarget(UnixTarget{own});
  if (!dev.empty() && exists(dev)) return HttpTarget(UnixTarget{dev});
  return fail(
      ErrorCode::unavailable,
      "no agent runs here: there is no {}, and no development market in {}. Start an agent with `abacus agent`, a "
      "market of several with `abacus dev up`, or name one with --agent or ABACUS_AGENT",
      own, default_dev_dir());
}

}  // namespace

Result<HttpTarget> find_agent(const std::string& agent, const std::string& token) {
  std::string named = or_variable(agent, "ABACUS_AGENT");
  if (named.empty()) return any_agent();
  if (named.starts_with("http://")) return over_tcp(named, token);
  if (named.find("://") != std::string::npos) {
    return fail(ErrorCode::invalid,
                "--agent {}: want a socket, a data directory, http://127.0.0.1:PORT, or a dev agent's name", named);
  }
  if (named.find('/') == std::string::npos && !exists(named)) {
    if (std::string dev = dev_socket(named); !dev.empty()) return HttpTarget(UnixTarget{dev});
  }
  std::string path = absolute_path(named, current_folder());
  if (std::filesystem::is_directory(path)) path = socket_of(path);
  if (exists(path)) return HttpTarget(UnixTarget{path});
  return fail(ErrorCode::unavailable,
              "no agent at {}: there is no such socket. Start one with `abacus agent --data-dir DIR`", path);
}

}  // namespace abacus
