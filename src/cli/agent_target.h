// Which agent a command talks to.
#pragma once

#include <string>

#include "api/http.h"
#include "base/result.h"

namespace abacus {

/// `agent` (or $ABACUS_AGENT): a socket's path, a data directory, "http://ADDRESS:PORT", or the name of an agent of the
/// development market. If empty: the data directory's own agent if its socket is there, else the first agent of the
/// development market. `token` (or $ABACUS_AGENT_TOKEN, or the data directory's token file) goes with http.
/// Errors: `invalid` (what is not one of these), `unavailable` (nothing found: where, and how to start one).
Result<HttpTarget> find_agent(const std::string& agent, const std::string& token);

}  // namespace abacus
