// Who answers: SWIM's probes, direct and by way of others, with Lifeguard's care about one's own health.
//
// A member is alive, doubted or suspect. A failed probe makes it doubted (SWIM's "suspect"): it is told so with every
// ping and may refute by a higher incarnation, and others who doubt it too shorten the time it has. When that time is
// over it is suspect, which is all that the rest of the node sees. Nobody is ever dead: a suspect goes on being probed,
// ever more rarely, and an answer makes it alive again. A rumour or a broken connection is a reason to probe, never a
// verdict.
//
// Only neighbours and counterparties of leases are members, so traffic does not grow with the number of nodes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/prng.h"
#include "core/model/effects.h"
#include "core/model/timer_queue.h"
#include "core/overlay/overlay_config.h"
#include "core/overlay/round_trips.h"
#include "core/overlay/rumours.h"
#include "protocol/overlay_messages.h"

namespace abacus {

/// A peer became suspect, or came back.
struct OverlayNotice {
  Contact peer;
  bool suspect = false;
};

class FailureDetector {
 public:
  /// `round_trips` outlives the detector. Incarnations start at epoch << 32.
  FailureDetector(const DetectorConfig& config, const NodeId& self, std::uint64_t epoch, const RoundTrips& round_trips,
                  Prng prng);

  void start(MonoTime now);

  /// From now on these are the members. Suspects that are in neither list linger for a while.
  void set_members(const std::vector<Contact>& neighbours, const std::vector<Contact>& counterparties);

  void on(const Contact& from, const Ping& ping, Now now, Effects& effects);
  /// The round trip, if `from` was pinged itself.
  std::optional<Duration> on(const Contact& from, const PingAck& ack, Now now, Effects& effects);
  void on(const Contact& from, const PingRequest& request, Now now, Effects& effects);
  void on(const Contact& from, const PingRelay& relay, Now now, Effects& effects);

  /// The transport could not reach the node, or lost it.
  void lost(const NodeId& node, Now now, Effects& effects);
  /// The node said something. That is no proof that it can be reached, but a reason to ask a suspect again.
  void heard(const NodeId& node, Now now, Effects& effects);
  /// The node said that it stops.
  void left(const NodeId& node, MonoTime now);

  bool is_suspect(const NodeId& node) const;
  std::vector<OverlayNotice> take_notices();
  /// Neighbours that do not answer (each time that becomes clear), and suspects that answered again.
  std::vector<Contact> take_unreachable();
  std::vector<Contact> take_returned();

  std::optional<MonoTime> next_wake() const { return timers_.next(); }
  void on_wake(Now now, Effects& effects);

  std::uint64_t incarnation() const { return incarnation_; }
  std::uint32_t health() const { return health_; }  ///< 0: well. Time limits are multiplied by 1 + this.

 private:
  enum class Belief : std::uint8_t { alive, doubted, suspect };
  struct Member {
    Contact contact;
    bool neighbour = false;
    bool counterparty = false;
    Belief belief = Belief::alive;
    std::uint64_t incarnation = 0;
    MonoTime since;  ///< Of the belief.
    std::optional<MonoTime> probed_at;
    Duration pause;                ///< Until the next probe of a suspect.
    std::vector<NodeId> doubters;  ///< Others who doubt it too.
  };
  struct Probe {
    NodeId target;
    MonoTime sent_at;
    Duration timeout;
    bool indirect = false;  ///< Helpers were asked.
    bool broken = false;    ///< The transport cannot reach the target.
    std::vector<NodeId> helpers;
    std::vector<NodeId> nacks;
  };
  struct Relay {
    Contact asker;
    std::uint32_t asked_probe = 0;
    NodeId target;
  };
  enum class Timer : std::uint8_t { period, indirect, probe_end, relay_end, doubt_end, linger };
  struct TimerKey {
    Timer timer = Timer::period;
    std::uint32_t probe = 0;
    NodeId node;
    auto operator<=>(const TimerKey&) const = default;
  };

  Member* find(const NodeId& node);
  bool is_member(const Member& member) const { return member.neighbour || member.counterparty; }
  void drop_if_idle(const NodeId& node);
  void trim_lingering();

  void next_period(Now now, Effects& effects);
  std::optional<NodeId> next_in_round();
  bool probing(const NodeId& node) const;
  void probe(Member& member, Now now, Effects& effects);
  void probe_at_once(Member& member, Now now, Effects& effects);
  void ask_helpers(std::uint32_t number, Probe& probe, Effects& effects);
  std::vector<Contact> choose_helpers(const NodeId& target);
  void end_probe(std::uint32_t number);
  void probe_succeeded(std::uint32_t number);
  void probe_failed(std::uint32_t number, MonoTime now);
  void judge_health(const Probe& probe);

  void answered(Member& member);
  void doubt(Member& member, MonoTime now);
  void confirm(Member& member, const NodeId& doubter);
  void suspect(Member& member, MonoTime now);
  void still_silent(Member& member, MonoTime now);
  Duration suspicion_time(std::size_t doubters) const;

  std::vector<Rumour> rumours_for(const NodeId& node);
  void hear(const NodeId& from, const std::vector<Rumour>& rumours, Now now, Effects& effects);
  void hear_of_self(const Rumour& rumour);
  void hear_of(Member& member, const NodeId& from, const Rumour& rumour, Now now, Effects& effects);
  void end_relay(std::uint32_t number, bool reached, Effects& effects);

  DetectorConfig config_;
  NodeId self_;
  std::uint64_t incarnation_;
  const RoundTrips& round_trips_;
  Prng prng_;
  Rumours rumours_;
  std::uint32_t health_ = 0;
  std::uint32_t last_probe_ = 0;
  std::map<NodeId, Member> members_;
  std::map<std::uint32_t, Probe> probes_;
  std::map<std::uint32_t, Relay> relays_;
  std::vector<NodeId> round_;  ///< Members still to be probed in this cycle, the next one last.
  TimerQueue<TimerKey> timers_;
  std::vector<OverlayNotice> notices_;
  std::vector<Contact> unreachable_;
  std::vector<Contact> returned_;
};

}  // namespace abacus
