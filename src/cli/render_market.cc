// Nodes, plans, the development market, and the reasons behind a placement.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size.h"
#include "base/time_text.h"
#include "cli/render.h"
#include "cli/table.h"

namespace abacus {
namespace {

std::string state_of(const PeerView& node) {
  if (node.self) return "this one";
  if (node.suspect) return "suspect";
  return node.neighbour ? "neighbour" : "heard of";
}

template <class T>
std::string text_or_dash(const std::optional<T>& value) {
  return value ? to_string(*value) : "-";
}

std::string reason_text(const PriceReason& reason) {
  return fmt::format("energy {}, capacity {} x {:.2f}, {:.0f} % used", to_string(reason.energy),
                     to_string(reason.capacity), reason.multiplier_permille / 1000.0,
                     reason.utilisation_permille / 10.0);
}

/// "memory: needs 8 GiB, has 2 GiB": the name of the dimension without its unit, which the amounts carry.
std::string shortfall_text(const Shortfall& shortfall) {
  std::string text = to_string(shortfall);
  for (const char* unit : {"_milli", "_bytes"}) {
    if (shortfall.dimension.ends_with(unit)) text.erase(text.find(unit), std::string_view(unit).size());
  }
  return text;
}

std::string shortfall_texts(const DeclineDetail& decline) {
  std::vector<std::string> texts;
  for (const Shortfall& shortfall : decline.shortfalls) texts.push_back(shortfall_text(shortfall));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string quotes_table(const PlanResult& plan) {
  Table table(
      {"SELLER", "REGION", ">SLOTS", ">PRICE", ">FEE", ">START IN", ">A TASK COSTS", ">ROOM", "WHY THIS PRICE"});
  for (const PlanLine& line : plan.lines) {
    if (!line.quote) continue;
    for (const Lot& lot : line.quote->lots) {
      bool first = &lot == &line.quote->lots.front();
      table.row({first ? node_text(line.seller) : "", first ? line.region : "", std::to_string(lot.count),
                 to_string(lot.price), to_string(lot.fee), lot.start_delay.ns == 0 ? "now" : to_string(lot.start_delay),
                 first ? to_string(line.expected_cost) : "",
                 first ? fmt::format("{:.0f} %", line.quote->room_permille / 10.0) : "",
                 first ? reason_text(line.quote->reason) : ""});
    }
  }
  return table.empty() ? "" : table.to_string();
}

std::string declines_table(const PlanResult& plan) {
  Table table({"SELLER", "REGION", "NO OFFER BECAUSE"});
  for (const PlanLine& line : plan.lines) {
    if (line.quote) continue;
    table.row({node_text(line.seller), line.region, line.decline ? decline_text(*line.decline) : "no answer in time"});
  }
  return table.empty() ? "" : table.to_string();
}

/// What stands in the column WHY: numbers before sentences.
std::string why_text(const NegotiationLine& line) {
  if (line.decline) return decline_text(*line.decline);
  if (line.reason) return reason_text(*line.reason);
  return line.text;
}

std::string step_text(NegotiationStep step) {
  std::string text = boost::describe::enum_to_string(step, "unknown");
  for (char& c : text) c = c == '_' ? ' ' : c;
  return text;
}

/// The lines from `first` up to `last` under a heading and the time of the first.
std::string episode(const std::vector<NegotiationLine>& lines, std::size_t first, std::size_t last,
                    const std::string& heading) {
  Table table({"ROUND", ">AFTER", "SELLER", "REGION", "WHAT", ">SLOTS", ">PRICE", ">SCORE", "WHY"});
  for (std::size_t i = first; i < last; ++i) {
    const NegotiationLine& line = lines[i];
    table.row({line.round > 0 ? std::to_string(line.round) : "-", to_string(line.at - lines[first].at),
               node_text(line.seller), line.region.empty() ? "-" : line.region, step_text(line.step),
               line.slots > 0 ? std::to_string(line.slots) : "-", text_or_dash(line.price), text_or_dash(line.score),
               why_text(line)});
  }
  return fmt::format("\n{}, {}\n", heading, utc_text(lines[first].at)) + table.to_string();
}

}  // namespace

std::string decline_text(const DeclineDetail& decline) {
  std::string numbers = shortfall_texts(decline);
  std::string when = decline.free_in.ns > 0 ? fmt::format("; room in {}", to_string(decline.free_in)) : "";
  std::string nearest = decline.nearest_count > 0 ? fmt::format("; {} would fit now", decline.nearest_count) : "";
  switch (decline.reason) {
    case DeclineReason::never_fits: return "too large for it: " + numbers;
    case DeclineReason::no_room: return "no room now" + (numbers.empty() ? "" : ": " + numbers) + nearest + when;
    case DeclineReason::price_too_low:
      return "asks more" + (decline.lowest_price ? ": at least " + to_string(*decline.lowest_price) : "");
    case DeclineReason::lease_too_long: return "does not commit itself for so long" + when;
    case DeclineReason::wrong_region: return "not in a region that the job allows";
    case DeclineReason::draining: return "takes no new work";
    case DeclineReason::quote_expired: return "the quote was too old" + nearest + when;
    case DeclineReason::bad_request: return "did not understand the request";
  }
  return "unknown";
}

std::string render_nodes(const std::vector<PeerView>& nodes) {
  Table table({"NODE", "REGION", "STATE", "CAPACITY", ">LAST PRICE", ">ROUND TRIP", ">HEARD", "ENDPOINT"});
  for (const PeerView& node : nodes) {
    table.row({node_text(node.node), node.region.empty() ? "-" : node.region, state_of(node), to_string(node.capacity),
               text_or_dash(node.last_price), node.self ? "-" : to_string(node.round_trip),
               node.self ? "-" : to_string(node.age) + " ago",
               node.endpoint.known() ? node.endpoint.to_string() : "-"});
  }
  return table.to_string();
}

std::string render_plan(const PlanResult& plan) {
  std::string quotes = quotes_table(plan), declines = declines_table(plan), text;
  if (plan.lines.empty())
    text = fmt::format("nobody was asked: none of the {} nodes known can take this job\n", plan.nodes_known);
  text += quotes;
  if (!quotes.empty() && !declines.empty()) text += "\n";
  text += declines;
  return text + fmt::format("\n{} nodes known; nothing was bought\n", plan.nodes_known);
}

std::string render_explain(const ExplainView& view) {
  std::string text = fmt::format("task {}: {}\n", view.task.task.to_string(), view.summary);
  int number = 0;
  for (std::size_t first = 0; first < view.lines.size();) {
    std::size_t last = first;
    while (last < view.lines.size() && view.lines[last].negotiation == view.lines[first].negotiation) ++last;
    // What happens to leases afterwards belongs to no negotiation.
    bool negotiated = view.lines[first].negotiation != 0;
    text += episode(view.lines, first, last, negotiated ? fmt::format("episode {}", ++number) : "afterwards");
    first = last;
  }
  if (view.lines.empty()) text += "nothing was negotiated since this agent started\n";
  return text;
}

std::string render_dev_market(const DevMarket& market, const std::vector<bool>& alive) {
  Table table({"AGENT", "REGION", "STATE", ">PID", "ENDPOINT", "CAPACITY", ">ENERGY A KWH", "DATA"});
  for (std::size_t i = 0; i < market.agents.size(); ++i) {
    const DevAgent& agent = market.agents[i];
    table.row({agent.name, agent.region, alive.at(i) ? "up" : "down", std::to_string(agent.pid),
               agent.endpoint.to_string(), agent.capacity, to_string(agent.energy_per_kwh), agent.data_dir});
  }
  return table.to_string();
}

}  // namespace abacus
