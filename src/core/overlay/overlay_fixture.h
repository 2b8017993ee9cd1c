// For tests: offers with cheap signatures, and a network of overlays in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/overlay/overlay.h"

namespace abacus::overlay_test {

inline constexpr WallTime kDawn{1'700'000'000'000'000'000};
inline Now at(Duration since_start) { return {MonoTime{since_start.ns}, kDawn + since_start}; }

inline NodeId node_id(std::uint32_t number) {
  NodeId id;
  Prng(number + 1).fill(id.bytes);  // Spread out, as keys are.
  return id;
}

inline Contact contact(std::uint32_t number) {
  Contact result{node_id(number), {}};
  result.endpoint.address[14] = static_cast<std::uint8_t>(number >> 8);
  result.endpoint.address[15] = static_cast<std::uint8_t>(number);
  result.endpoint.port = static_cast<std::uint16_t>(7'000 + (number >> 16));
  return result;
}

/// Stands in for a signature: any change to what it covers breaks it.
inline Signature tag(const Offer& offer) {
  std::uint64_t mix = 0x9e3779b97f4a7c15 ^ offer.sequence ^ static_cast<std::uint64_t>(offer.issued_at.ns);
  for (std::uint8_t byte : offer.contact.node.bytes) mix = (mix ^ byte) * 0x100000001b3;
  for (char letter : offer.region) mix = (mix ^ static_cast<std::uint8_t>(letter)) * 0x100000001b3;
  for (const DeviceStock& stock : offer.capacity.devices) mix = (mix ^ stock.count) * 0x100000001b3;
  Signature signature{};
  Prng(mix).fill(signature);
  return signature;
}

inline OfferRef sign(const Offer& offer) {
  return std::make_shared<const SignedOffer>(SignedOffer{offer, {}, tag(offer)});
}

inline Capacity with_device(const std::string& kind, const std::string& model) {
  Capacity capacity{8'000, 32ull << 30, 100ull << 30, {}};
  if (!kind.empty()) capacity.devices.push_back({kind, model, 1, 0, false});
  return capacity;
}

inline Offer offer_of(std::uint32_t number, std::uint64_t sequence, WallTime issued_at,
                      const std::string& region = "here", const Capacity& capacity = with_device("", "")) {
  return Offer{contact(number), OrgId{}, sequence, issued_at, minutes(5), region, capacity};
}

template <class E>
std::vector<E> effects_of(const Effects& effects) {
  std::vector<E> found;
  for (const Effect& effect : effects.now) {
    if (const E* match = std::get_if<E>(&effect)) found.push_back(*match);
  }
  return found;
}

template <class M>
std::vector<std::pair<NodeId, M>> sent(const Effects& effects) {
  std::vector<std::pair<NodeId, M>> found;
  for (const Send& send : effects_of<Send>(effects)) {
    if (const M* match = std::get_if<M>(&send.message)) found.emplace_back(send.to.node, *match);
  }
  return found;
}

/// Overlays that send each other messages: delays, loss, partitions, crashes. The transport is as the real one:
/// identity is vouched for, an endpoint is known only of peers that were dialled, and one connection serves both ways.
class Network {
 public:
  explicit Network(std::uint64_t seed, OverlayConfig config = {}) : prng_(seed), config_(config) {}

  /// Starts node number `size()`, to join through node `sponsor` if there is one.
  std::uint32_t add(std::optional<std::uint32_t> sponsor, const std::string& region = "here",
                    const Capacity& capacity = with_device("", ""));
  /// Gone, silently (a host that lost its power) or with its connections refused (a process that was killed).
  void kill(std::uint32_t number, bool silently);
  /// The same key, a new process, a higher epoch.
  void restart(std::uint32_t number, std::optional<std::uint32_t> sponsor);
  void give_contacts(std::uint32_t number, std::vector<Contact> contacts);
  void watch(std::uint32_t number, std::vector<Contact> counterparties);
  void leave(std::uint32_t number);
  /// Nodes of different groups do not hear each other.
  void set_group(std::uint32_t number, int group) { hosts_[number].group = group; }
  void set_loss_permille(std::uint64_t permille) { loss_permille_ = permille; }

  void run_for(Duration time);

  std::uint32_t size() const { return static_cast<std::uint32_t>(hosts_.size()); }
  bool alive(std::uint32_t number) const { return hosts_[number].overlay != nullptr; }
  Overlay& node(std::uint32_t number) { return *hosts_[number].overlay; }
  Now now() const { return at(Duration{time_.ns}); }

  /// All living nodes reach each other along active views, taken as undirected.
  bool connected() const;
  /// Links that only one side has.
  std::size_t one_sided_links() const;
  /// Share of the living that know a living holder of "KIND:MODEL", in thousandths.
  std::size_t knowing_permille(const std::string& device_class) const;

  std::uint64_t messages = 0;
  std::uint64_t offers_sent = 0;
  std::uint64_t keep_connections = 0;
  std::vector<std::pair<std::uint32_t, OverlayNotice>> notices;  ///< Who was told what.

 private:
  struct Host {
    std::unique_ptr<Overlay> overlay;
    std::string region;
    Capacity capacity;
    std::uint64_t epoch = 0;
    int group = 0;
    std::optional<MonoTime> wake;
  };
  struct Delivery {
    std::uint32_t to = 0;
    std::uint64_t epoch = 0;
    std::variant<MessageReceived, PeerLost, OfferSigned, OffersChecked> event;
  };
  void boot(std::uint32_t number, std::optional<std::uint32_t> sponsor);
  void carry_out(std::uint32_t number, Effects& effects);
  void send(std::uint32_t from, const Send& send);
  void connect(std::uint32_t number, const KeepConnections& keep);
  void deliver(const Delivery& delivery);
  void settle(std::uint32_t number, Effects& effects);
  template <class E>
  void post(std::uint32_t to, Duration later, E event);
  Duration delay(std::uint32_t a, std::uint32_t b);
  std::optional<std::uint32_t> resolve(const Contact& contact) const;

  Prng prng_;
  OverlayConfig config_;
  std::vector<Host> hosts_;
  std::map<NodeId, std::uint32_t> by_node_;
  std::map<Endpoint, std::uint32_t> by_endpoint_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> dialled_;
  std::multimap<MonoTime, Delivery> deliveries_;
  std::set<std::pair<MonoTime, std::uint32_t>> wakes_;
  MonoTime time_;
  std::uint64_t loss_permille_ = 0;
};

inline std::uint32_t Network::add(std::optional<std::uint32_t> sponsor, const std::string& region,
                                  const Capacity& capacity) {
  const std::uint32_t number = size();
  hosts_.push_back({nullptr, region, capacity, 0, 0, {}});
  by_node_[node_id(number)] = number;
  by_endpoint_[contact(number).endpoint] = number;
  boot(number, sponsor);
  return number;
}

inline void Network::boot(std::uint32_t number, std::optional<std::uint32_t> sponsor) {
  Host& host = hosts_[number];
  ++host.epoch;
  host.overlay = std::make_unique<Overlay>(config_, contact(number), OrgId{}, host.region, host.capacity, host.epoch,
                                           Prng(prng_.next()));
  Effects effects;
  host.overlay->start(now(), effects);
  // Users give an address, not a key.
  if (sponsor) host.overlay->on(ContactsGiven{{Contact{{}, contact(*sponsor).endpoint}}}, now(), effects);
  settle(number, effects);
}

inline void Network::kill(std::uint32_t number, bool silently) {
  Host& host = hosts_[number];
  host.overlay.reset();
  if (host.wake) wakes_.erase({*host.wake, number});
  host.wake.reset();
  if (silently) host.group = -1;
  std::erase_if(dialled_, [&](const auto& pair) {
    if (pair.first != number && pair.second != number) return false;
    const std::uint32_t other = pair.first == number ? pair.second : pair.first;
    if (!silently && alive(other)) post(other, milliseconds(1), PeerLost{node_id(number), "closed"});
    return true;
  });
}

inline void Network::restart(std::uint32_t number, std::optional<std::uint32_t> sponsor) {
  hosts_[number].group = 0;
  boot(number, sponsor);
}

inline void Network::give_contacts(std::uint32_t number, std::vector<Contact> contacts) {
  Effects effects;
  node(number).on(ContactsGiven{std::move(contacts)}, now(), effects);
  settle(number, effects);
}

inline void Network::watch(std::uint32_t number, std::vector<Contact> counterparties) {
  Effects effects;
  node(number).watch(std::move(counterparties), now(), effects);
  settle(number, effects);
}

inline void Network::leave(std::uint32_t number) {
  Effects effects;
  node(number).on(Leaving{}, now(), effects);
  settle(number, effects);
}

template <class E>
void Network::post(std::uint32_t to, Duration later, E event) {
  deliveries_.emplace(time_ + later, Delivery{to, hosts_[to].epoch, std::move(event)});
}

inline Duration Network::delay(std::uint32_t a, std::uint32_t b) {
  const bool near = hosts_[a].region == hosts_[b].region;
  return near ? microseconds(prng_.between(200, 600)) : milliseconds(prng_.between(20, 30));
}

inline std::optional<std::uint32_t> Network::resolve(const Contact& to) const {
  if (auto found = by_node_.find(to.node); found != by_node_.end()) return found->second;
  if (auto found = by_endpoint_.find(to.endpoint); found != by_endpoint_.end()) return found->second;
  return std::nullopt;
}

inline void Network::send(std::uint32_t from, const Send& send) {
  std::optional<std::uint32_t> to = resolve(send.to);
  ++messages;
  if (!to || *to == from || hosts_[*to].group != hosts_[from].group) return;
  const bool connected = dialled_.contains({from, *to}) || dialled_.contains({*to, from});
  if (!alive(*to) || (!connected && !send.to.endpoint.known())) {
    return post(from, milliseconds(1), PeerLost{send.to.node, "refused"});
  }
  if (!connected) dialled_.insert({from, *to});
  if (prng_.chance(loss_permille_, 1'000)) return;
  if (const auto* shuffle = std::get_if<Shuffle>(&send.message)) offers_sent += shuffle->offers.size();
  if (const auto* reply = std::get_if<ShuffleReply>(&send.message)) offers_sent += reply->offers.size();
  Contact sender{node_id(from), {}};
  if (dialled_.contains({*to, from})) sender = contact(from);
  post(*to, delay(from, *to), MessageReceived{sender, OrgId{}, send.trace, send.message});
}

inline void Network::connect(std::uint32_t number, const KeepConnections& keep) {
  ++keep_connections;
  for (const Contact& peer : keep.peers) {
    std::optional<std::uint32_t> to = resolve(peer);
    if (!to || !alive(*to) || hosts_[*to].group != hosts_[number].group) continue;
    if (!dialled_.contains({*to, number})) dialled_.insert({number, *to});
  }
}

inline void Network::carry_out(std::uint32_t number, Effects& effects) {
  for (Effect& effect : effects.now) {
    if (const auto* message = std::get_if<Send>(&effect)) send(number, *message);
    if (const auto* keep = std::get_if<KeepConnections>(&effect)) connect(number, *keep);
    if (const auto* wish = std::get_if<SignOffer>(&effect)) {
      post(number, microseconds(100), OfferSigned{sign(wish->offer)});
    }
    if (const auto* wish = std::get_if<CheckOffers>(&effect)) {
      OffersChecked checked;
      for (const OfferRef& offer : wish->offers) {
        if (offer->signature == tag(offer->offer)) checked.offers.push_back(offer);
      }
      post(number, microseconds(100), std::move(checked));
    }
  }
}

inline void Network::deliver(const Delivery& delivery) {
  if (!alive(delivery.to) || hosts_[delivery.to].epoch != delivery.epoch) return;
  Overlay& overlay = node(delivery.to);
  Effects effects;
  std::visit(
      [&]<class E>(const E& event) {
        if constexpr (std::is_same_v<E, MessageReceived>) {
          std::visit(
              [&](const auto& message) {
                if constexpr (requires { overlay.on(event.from, event.trace, message, now(), effects); }) {
                  overlay.on(event.from, event.trace, message, now(), effects);
                }
              },
              event.message);
        } else {
          overlay.on(event, now(), effects);
        }
      },
      delivery.event);
  settle(delivery.to, effects);
}

inline void Network::settle(std::uint32_t number, Effects& effects) {
  Host& host = hosts_[number];
  for (const OverlayNotice& notice : host.overlay->take_notices()) notices.emplace_back(number, notice);
  carry_out(number, effects);
  std::optional<MonoTime> wake = host.overlay->next_wake();
  if (wake == host.wake) return;
  if (host.wake) wakes_.erase({*host.wake, number});
  host.wake = wake;
  if (wake) wakes_.insert({*wake, number});
}

inline void Network::run_for(Duration time) {
  const MonoTime end = time_ + time;
  while (true) {
    const bool wake_first =
        !wakes_.empty() && (deliveries_.empty() || wakes_.begin()->first <= deliveries_.begin()->first);
    if (wake_first ? wakes_.begin()->first > end : deliveries_.empty() || deliveries_.begin()->first > end) break;
    if (wake_first) {
      const auto [due, number] = *wakes_.begin();
      wakes_.erase(wakes_.begin());
      hosts_[number].wake.reset();
      time_ = std::max(time_, due);
      Effects effects;
      node(number).on_wake(now(), effects);
      settle(number, effects);
    } else {
      auto next = deliveries_.extract(deliveries_.begin());
      time_ = std::max(time_, next.key());
      deliver(next.mapped());
    }
  }
  time_ = end;
}

inline bool Network::connected() const {
  std::vector<std::vector<std::uint32_t>> links(hosts_.size());
  std::size_t living = 0;
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (!alive(i)) continue;
    ++living;
    if (open.empty()) open.push_back(i);
    for (const Contact& neighbour : hosts_[i].overlay->neighbours()) {
      const std::uint32_t j = by_node_.at(neighbour.node);
      links[i].push_back(j);
      links[j].push_back(i);
    }
  }
  std::set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t i = open.back();
    open.pop_back();
    for (std::uint32_t j : links[i]) {
      if (alive(j) && seen.insert(j).second) open.push_back(j);
    }
  }
  return seen.size() == living;
}

inline std::size_t Network::one_sided_links() const {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (!alive(i)) continue;
    for (const Contact& neighbour : hosts_[i].overlay->neighbours()) {
      const std::uint32_t j = by_node_.at(neighbour.node);
      bool mutual = false;
      if (alive(j)) {
        for (const Contact& back : hosts_[j].overlay->neighbours()) mutual |= back.node == node_id(i);
      }
      count += mutual ? 0 : 1;
    }
  }
  return count;
}

inline std::size_t Network::knowing_permille(const std::string& device_class) const {
  std::size_t living = 0;
  std::size_t knowing = 0;
  for (const Host& host : hosts_) {
    if (host.overlay == nullptr) continue;
    ++living;
    for (const OfferRef& offer : host.overlay->offers(now().wall)) {
      const std::vector<std::string> classes = device_classes(offer->offer.capacity);
      const bool holds = std::find(classes.begin(), classes.end(), device_class) != classes.end();
      if (!holds || !alive(by_node_.at(offer->offer.contact.node))) continue;
      ++knowing;
      break;
    }
  }
  return living == 0 ? 0 : knowing * 1'000 / living;
}

}  // namespace abacus::overlay_test
