// Steps of a replay as lines for people and as JSON. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "core/recording/replayer.h"

namespace abacus {

/// A line for the event, then one for each effect: "put" and "erase" change the journal, "->" left at once, "=>" once
/// the journal was written.
std::string render_step(const ReplayStep& step, const Replayer& replayer);

/// The same with every field.
boost::json::object json_of_step(const ReplayStep& step, const Replayer& replayer);

/// How it ended: what was replayed, and whether the decisions were the same.
std::string render_outcome(const Replayer& replayer);

/// "the core that replays differs from the one that recorded: ...", naming the first entry that differs.
std::string difference_text(const ReplayDifference& difference, const std::string& this_version);

}  // namespace abacus
