// Bounded search for a node that can hold a bundle.
#include "core/buying/market_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/buying/custody.h"

namespace abacus {
namespace {

constexpr Duration kLookAgainEvery = milliseconds(200);
/// Work shorter than some 50 round trips to another region is better off near.
constexpr Duration kNearFirstBelow = seconds(1);

}  // namespace

Wanted wanted_of(const Turn& t, const Job& job) {
  Terms terms{job.run_or_minute(), job.spec().urgency};
  bool short_work = job.run() > Duration{} && job.run() < kNearFirstBelow;
  return {job.spec().bundle, job.shape, job.spec().regions, terms, t.desk.region, short_work, t.desk.self.node};
}

std::string needs_text(const JobSpec& spec) {
  std::string text = to_string(spec.bundle);
  for (std::size_t i = 0; i < spec.regions.size(); ++i) text += (i == 0 ? " in " : " or ") + spec.regions[i];
  return text;
}

std::string infeasible_sentence(const Field& field, const JobSpec& spec) {
  std::string text = fmt::format("no node known can hold {}: looked at {}", needs_text(spec), field.nodes);
  if (field.other_regions > 0) text += fmt::format(", {} of them in other regions", field.other_regions);
  for (std::size_t i = 0; i < field.seen_regions.size(); ++i) text += (i == 0 ? ": " : ", ") + field.seen_regions[i];
  if (!field.nearest) return text;
  text += fmt::format("; the nearest miss is {}", field.nearest->node.short_string());
  if (!field.nearest->region.empty()) text += fmt::format(" in {}", field.nearest->region);
  for (std::size_t i = 0; i < field.nearest->shortfalls.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + to_string(field.nearest->shortfalls[i]);
  }
  return text;
}

void search_on(Turn& t, Job& job, const Field& field) {
  const BuyingConfig& config = t.desk.config;
  if (!std::holds_alternative<Searching>(job.episode)) {
    Duration patience = field.nodes <= 1 ? config.search_for + config.joining_time : config.search_for;
    job.episode = Searching{t.now.mono + patience};
    t.desk.wants_search = true;
  }
  MonoTime until = std::get<Searching>(job.episode).until;
  if (t.now.mono >= until) {
    return end_pending(t, job, EndKind::unplaceable, infeasible_sentence(field, job.spec()));
  }
  t.desk.timers.set(EpisodeDue{job.id()}, std::min(until, t.now.mono + kLookAgainEvery));
}

}  // namespace abacus
