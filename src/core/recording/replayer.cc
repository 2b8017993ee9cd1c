// A node is made once all its records have come; from then on events go straight into it.
#include "core/recording/replayer.h"

#include <utility>

namespace abacus {

Result<std::optional<ReplayStep>> Replayer::apply(PlacedEntry entry) {
  auto step = std::visit([&](auto& held) { return take(entry.number, std::move(held)); }, entry.entry);
  if (!step) return fail(step.error().in(fmt::format("entry {} at byte {}", entry.number, entry.offset)));
  return step;
}

Result<std::optional<ReplayStep>> Replayer::take(std::uint64_t number, NodeMade made) {
  node_.reset();
  records_.clear();
  making_ = std::move(made);
  return start_if_complete(number);
}

Result<std::optional<ReplayStep>> Replayer::take(std::uint64_t number, RecordRestored restored) {
  if (!making_) return fail(ErrorCode::corrupt, "a record that belongs to no node");
  records_.push_back(std::move(restored.record));
  return start_if_complete(number);
}

Result<std::optional<ReplayStep>> Replayer::take(std::uint64_t number, EventHandled handled) {
  if (!node_) {
    return fail(ErrorCode::corrupt, "an event without a node{}",
                making_ ? fmt::format(": {} of its records are missing", records_missing()) : "");
  }
  ++events_;
  now_ = {handled.mono, handled.wall};
  ReplayStep step{number, now_, std::move(handled.event), {}};
  node_->handle(*step.event, now_, step.effects);
  compare(number, step.effects, handled.digest);
  return step;
}

std::optional<ReplayStep> Replayer::start_if_complete(std::uint64_t number) {
  if (records_missing() > 0) return std::nullopt;
  NodeMade made = *std::exchange(making_, std::nullopt);
  ++nodes_;
  now_ = {made.mono, made.wall};
  version_ = std::move(made.version);
  digest_ = {};
  node_ = std::make_unique<Node>(std::move(made.config), std::exchange(records_, {}));
  ReplayStep step{number, now_, std::nullopt, {}};
  node_->start(now_, step.effects);
  compare(number, step.effects, made.digest);
  return step;
}

void Replayer::compare(std::uint64_t number, const Effects& effects, std::uint64_t recorded) {
  digest_.add(effects);
  if (digest_.value() != recorded && !difference_) difference_ = {number, now_.wall, version_};
}

}  // namespace abacus
