// A node of the market: handle(event, now) -> effects. Owns the parts and routes between them, nothing else.
#pragma once

#include <optional>
#include <vector>

#include "core/buying/buying.h"
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/model/records.h"
#include "core/model/timer_queue.h"
#include "core/model/views.h"
#include "core/node_config.h"
#include "core/overlay/overlay.h"
#include "core/selling/selling.h"

namespace abacus {

/// Deterministic: the same configuration, records and events with the same times give the same effects. One thread.
class Node {
 public:
  /// A node with the memory of `records` (from its journal; empty on the first start). Call `start` next.
  Node(NodeConfig config, const std::vector<Record>& records);

  /// The first effects: a new epoch is recorded, the offer goes out to be signed, the executor is asked what runs.
  void start(Now now, Effects& effects);

  void handle(const Event& event, Now now, Effects& effects);

  /// When a WakeUp is wanted, if nothing happens before.
  std::optional<MonoTime> next_wake() const;

  const NodeConfig& config() const { return config_; }
  std::uint64_t epoch() const { return memory_.epoch; }
  const Overlay& overlay() const { return overlay_; }
  const Selling& selling() const { return selling_; }
  const Buying& buying() const { return buying_; }
  Counters counters() const;

 private:
  template <class M>
  void route(const MessageReceived& received, const M& message, Now now, Effects& effects);
  template <class E>
  void route(const E& event, Now now, Effects& effects);
  void route(const MessageReceived& received, Now now, Effects& effects);
  void route(const WakeUp& event, Now now, Effects& effects);
  /// Other holders of the rarest device class that a bundle needs, to be named when this node declines.
  std::vector<OfferRef> referrals_for(const Bundle& bundle, const NodeId& asker, Now now) const;
  /// What follows from an event for the other parts: notices of suspicion, searches, lease counterparties.
  void settle(Now now, Effects& effects);
  void upkeep(Now now, Effects& effects);
  void remember(Effects& effects);

  NodeConfig config_;
  NodeRecord memory_;
  Overlay overlay_;
  Selling selling_;
  Buying buying_;
  std::optional<MonoTime> next_upkeep_;
  std::uint64_t messages_received_ = 0;
};

}  // namespace abacus
