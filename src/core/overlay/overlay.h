// Who is out there: neighbours, offers heard, and who answers. Owns the parts and carries messages between them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/prng.h"
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/model/peers.h"
#include "core/model/views.h"
#include "core/overlay/failure_detector.h"
#include "core/overlay/offer_cache.h"
#include "core/overlay/offer_intake.h"
#include "core/overlay/overlay_config.h"
#include "core/overlay/own_offer.h"
#include "core/overlay/round_trips.h"
#include "core/overlay/shuffler.h"
#include "core/overlay/views.h"

namespace abacus {

/// A pure state machine on one thread; its parts refer to each other, so it stays where it was made.
///
/// Never trusts what a peer sends: an offer counts only when its signature was checked, a rumour is a reason to probe,
/// and each sender's claims about itself are held against the identity that the transport vouches for.
class Overlay final : public Peers {
 public:
  /// `epoch` counts the node's starts; all randomness comes from `prng`.
  Overlay(const OverlayConfig& config, const Contact& self, const OrgId& organisation, const std::string& region,
          const Capacity& capacity, std::uint64_t epoch, Prng prng);
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  /// Asks for the signature of the own offer and sets the first timers. Call it once, first.
  void start(Now now, Effects& effects);

  void on(const Contact& from, const TraceContext& trace, const Join& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const ForwardJoin& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const NeighbourRequest& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const NeighbourReply& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const Disconnect& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const Shuffle& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const ShuffleReply& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const Ping& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const PingAck& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const PingRequest& message, Now now, Effects& effects);
  void on(const Contact& from, const TraceContext& trace, const PingRelay& message, Now now, Effects& effects);

  void on(const PeerLost& event, Now now, Effects& effects);
  void on(const OfferSigned& event, Now now, Effects& effects);
  void on(const OffersChecked& event, Now now, Effects& effects);
  void on(const CapacityProbed& event, Now now, Effects& effects);
  void on(const ContactsGiven& event, Now now, Effects& effects);
  /// Says goodbye; from then on nothing is sent by itself.
  void on(const Leaving& event, Now now, Effects& effects);

  std::optional<MonoTime> next_wake() const;
  void on_wake(Now now, Effects& effects);

  /// The counterparties of live leases: probed and kept connected like neighbours. Cheap when nothing changed.
  void watch(std::vector<Contact> counterparties, Now now, Effects& effects);

  /// A burst of shuffles with random contacts within and outside the region, for a job that fits nothing known. Calls
  /// within `search_gap` of one that searched do nothing.
  void search(Now now, Effects& effects);

  /// Offers that came with declines: checked like any others.
  void heard_referrals(const std::vector<OfferRef>& referrals, Now now, Effects& effects);

  /// Peers that became suspect or came back since the last call.
  std::vector<OverlayNotice> take_notices();

  std::span<const OfferRef> offers(WallTime now) const override;
  OfferRef find(const NodeId& node) const override;
  bool is_suspect(const NodeId& node) const override;
  /// Zero for the own node.
  Duration round_trip(const NodeId& node) const override;

  /// Every node known, by node id. `last_price` is for others to fill in.
  std::vector<PeerView> view(Now now) const;
  const std::vector<Contact>& neighbours() const { return views_.active(); }
  const std::vector<Contact>& passive_contacts() const { return views_.passive(); }
  const std::vector<Contact>& seeds() const { return views_.seeds(); }

 private:
  Contact reachable(const Contact& from) const;
  void heard(const Contact& from, Now now, Effects& effects);
  void measured(const NodeId& node, std::optional<Duration> round_trip);
  void consider(const NodeId& source, const std::vector<OfferRef>& offers, Now now, Effects& effects);
  void keep(const OfferRef& offer, Now now, Effects& effects);
  void shuffle(const Contact& to, Now now, Effects& effects);
  void shuffle_round(Now now, Effects& effects);
  std::optional<Contact> partner();
  void settle(Now now, Effects& effects);
  void publish_members(Effects& effects);

  OverlayConfig config_;
  Contact self_;
  RoundTrips round_trips_;
  Prng prng_;
  OfferCache cache_;
  OfferIntake intake_;
  OwnOffer own_offer_;
  Shuffler shuffler_;
  FailureDetector detector_;
  Views views_;
  std::vector<Contact> counterparties_;  ///< By node id.
  std::vector<Contact> kept_;            ///< The connections last asked for.
  std::optional<MonoTime> next_shuffle_;
  bool members_changed_ = false;
  bool leaving_ = false;
};

}  // namespace abacus
