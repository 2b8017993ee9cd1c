// Which part hears which event and message, and what a node writes about itself.
#include "core/node.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace abacus {
namespace {

constexpr Duration kUpkeepEvery = seconds(1);
constexpr std::uint32_t kMultiplierStepPermille = 50;  // A change worth a row in the journal.
constexpr std::size_t kReferralsMax = 3;

NodeRecord next_epoch(const std::vector<Record>& records) {
  NodeRecord memory;
  for (const Record& record : records) {
    if (const auto* found = std::get_if<NodeRecord>(&record)) memory = *found;
  }
  ++memory.epoch;
  return memory;
}

/// A stream of random numbers of its own for each part and each epoch.
Prng stream(const NodeConfig& config, std::uint64_t epoch, std::uint64_t part) {
  return Prng(config.seed ^ (epoch * 0x9e3779b97f4a7c15) ^ (part << 56));
}

/// Both sides may give a lease up; the reason tells which did, also where a node has a lease with itself.
bool from_buyer(const Release& release) { return release.reason < ReleaseReason::seller_leaving; }

std::uint32_t distance(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; }

}  // namespace

Node::Node(NodeConfig config, const std::vector<Record>& records)
    : config_(std::move(config)),
      memory_(next_epoch(records)),
      overlay_(config_.overlay, config_.self, config_.organisation, config_.region, config_.capacity, memory_.epoch,
               stream(config_, memory_.epoch, 1)),
      selling_(config_.selling, config_.pricing, config_.self, config_.organisation, config_.region, config_.capacity,
               stream(config_, memory_.epoch, 2), memory_.multiplier_permille),
      buying_(config_.buying, config_.self, config_.organisation, config_.region, stream(config_, memory_.epoch, 3)) {
  for (const Record& record : records) {
    std::visit(
        [&]<class R>(const R& r) {
          if constexpr (requires { selling_.restore(r); }) selling_.restore(r);
          if constexpr (requires { buying_.restore(r); }) buying_.restore(r);
        },
        record);
  }
}

void Node::start(Now now, Effects& effects) {
  effects.put(memory_);
  overlay_.start(now, effects);
  selling_.restored(now, effects);
  if (memory_.draining) selling_.on(Drain{0, true}, now, effects);
  buying_.restored(overlay_, now, effects);
  effects.soft(AdoptRuns{});
  next_upkeep_ = now.mono;
  settle(now, effects);
}

void Node::handle(const Event& event, Now now, Effects& effects) {
  std::visit([&](const auto& e) { route(e, now, effects); }, event);
  settle(now, effects);
}

template <class E>
void Node::route(const E& event, Now now, Effects& effects) {
  if constexpr (requires { overlay_.on(event, now, effects); }) overlay_.on(event, now, effects);
  if constexpr (requires { selling_.on(event, now, effects); }) selling_.on(event, now, effects);
  if constexpr (requires { buying_.on(event, overlay_, now, effects); }) buying_.on(event, overlay_, now, effects);
  if constexpr (std::is_same_v<E, Drain>) remember(effects);
}

void Node::route(const WakeUp&, Now now, Effects& effects) {
  overlay_.on_wake(now, effects);
  selling_.on_wake(now, effects);
  buying_.on_wake(overlay_, now, effects);
  if (next_upkeep_ && *next_upkeep_ <= now.mono) upkeep(now, effects);
}

void Node::route(const MessageReceived& received, Now now, Effects& effects) {
  ++messages_received_;
  std::visit([&](const auto& message) { route(received, message, now, effects); }, received.message);
}

template <class M>
void Node::route(const MessageReceived& received, const M& message, Now now, Effects& effects) {
  const Contact& from = received.from;
  const TraceContext& trace = received.trace;
  if constexpr (std::is_same_v<M, Rfq>) {
    selling_.on(from, trace, message, referrals_for(message.bundle, from.node, now), now, effects);
  } else if constexpr (std::is_same_v<M, Award>) {
    selling_.on(from, received.organisation, trace, message, now, effects);
  } else if constexpr (std::is_same_v<M, Release>) {
    if (from_buyer(message)) return selling_.on(from, trace, message, now, effects);
    buying_.on(from, trace, message, overlay_, now, effects);
  } else if constexpr (requires { overlay_.on(from, trace, message, now, effects); }) {
    overlay_.on(from, trace, message, now, effects);
  } else if constexpr (requires { selling_.on(from, trace, message, now, effects); }) {
    selling_.on(from, trace, message, now, effects);
  } else {
    if constexpr (std::is_same_v<M, Decline>) overlay_.heard_referrals(message.referrals, now, effects);
    buying_.on(from, trace, message, overlay_, now, effects);
  }
}

std::vector<OfferRef> Node::referrals_for(const Bundle& bundle, const NodeId& asker, Now now) const {
  std::vector<OfferRef> referrals;
  if (bundle.devices.empty() || slots_that_fit(selling_.free(), bundle) > 0) return referrals;
  for (const OfferRef& offer : overlay_.offers(now.wall)) {
    const NodeId& node = offer->offer.contact.node;
    if (node == asker || node == config_.self.node || slots_that_fit(offer->offer.capacity, bundle) == 0) continue;
    referrals.push_back(offer);
    if (referrals.size() == kReferralsMax) break;
  }
  return referrals;
}

void Node::settle(Now now, Effects& effects) {
  for (const OverlayNotice& notice : overlay_.take_notices()) {
    buying_.on_notice(notice.peer.node, notice.suspect, overlay_, now, effects);
  }
  if (buying_.take_wants_search()) overlay_.search(now, effects);
}

void Node::upkeep(Now now, Effects& effects) {
  next_upkeep_ = now.mono + kUpkeepEvery;
  std::vector<Contact> counterparties = buying_.counterparties();
  for (const Contact& buyer : selling_.counterparties()) counterparties.push_back(buyer);
  std::sort(counterparties.begin(), counterparties.end());
  counterparties.erase(std::unique(counterparties.begin(), counterparties.end()), counterparties.end());
  std::erase_if(counterparties, [&](const Contact& contact) { return contact.node == config_.self.node; });
  overlay_.watch(std::move(counterparties), now, effects);
  if (distance(selling_.multiplier_permille(), memory_.multiplier_permille) >= kMultiplierStepPermille) {
    remember(effects);
  }
}

void Node::remember(Effects& effects) {
  memory_.multiplier_permille = selling_.multiplier_permille();
  memory_.draining = selling_.draining();
  effects.put(memory_);
}

std::optional<MonoTime> Node::next_wake() const {
  std::optional<MonoTime> earliest = next_upkeep_;
  for (std::optional<MonoTime> at : {overlay_.next_wake(), selling_.next_wake(), buying_.next_wake()}) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  }
  return earliest;
}

Counters Node::counters() const {
  Counters counters = buying_.counters();
  Counters sold = selling_.counters();
  counters.quotes_sent = sold.quotes_sent;
  counters.declines_sent = sold.declines_sent;
  counters.processes_started = sold.processes_started;
  counters.processes_ended = sold.processes_ended;
  counters.messages_received = messages_received_;
  return counters;
}

}  // namespace abacus
