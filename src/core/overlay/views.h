// HyParView's two partial views: a few neighbours, symmetric and connected, and some more contacts to replace them
// from.
//
// Differences from the paper, each for a network that loses messages: every new link is asked for and confirmed
// (NeighbourRequest, NeighbourReply), also at the end of a ForwardJoin; from time to time a neighbour is asked again,
// so that one-sided links are found; full views go on mixing, ever more slowly, since those filled while many nodes
// start at once close around few of them; contacts that were lost, and the seeds, are spoken to ever more rarely but
// for ever, so that the halves of a partition find each other again.
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
#include "protocol/overlay_messages.h"

namespace abacus {

class Views {
 public:
  Views(const ViewsConfig& config, const Contact& self, Prng prng);

  void start(MonoTime now);

  /// Contacts to join by. The names of the nodes may be unknown; only the endpoint counts then.
  void add_seeds(const std::vector<Contact>& seeds, Now now, Effects& effects);

  void on(const Contact& from, const Join& join, Now now, Effects& effects);
  void on(const Contact& from, const ForwardJoin& forward, Now now, Effects& effects);
  void on(const Contact& from, const NeighbourRequest& request, Now now, Effects& effects);
  void on(const Contact& from, const NeighbourReply& reply, Now now, Effects& effects);
  void on(const Contact& from, const Disconnect& disconnect, Now now);

  /// A node exists: a candidate, or news of where a known one is.
  void learn(const Contact& contact, MonoTime now);
  /// A node does not answer.
  void lost(const Contact& contact, MonoTime now);
  /// A node that was lost answers again.
  void returned(const Contact& contact, Now now, Effects& effects);
  /// A node spoke: if it was lost, it has returned.
  void heard(const NodeId& node, Now now, Effects& effects);
  /// The transport cannot reach a node: whoever was asked is given up.
  void unreachable(const NodeId& node, MonoTime now);
  /// Goodbye to all neighbours.
  void leave(Effects& effects);

  const std::vector<Contact>& active() const { return active_; }
  const std::vector<Contact>& passive() const { return passive_; }
  const std::vector<Contact>& seeds() const { return seeds_; }
  bool is_neighbour(const NodeId& node) const;
  std::optional<Contact> random_neighbour();

  /// True once after each change of the active view.
  bool take_changed();
  /// Contacts that it is time to send a shuffle to, since they may be the other side of a partition that has healed.
  std::vector<Contact> take_reach_outs();

  std::optional<MonoTime> next_wake() const { return timers_.next(); }
  void on_wake(Now now, Effects& effects);

 private:
  enum class Timer : std::uint8_t { fill, join, confirm, mix, reach_out, reply };
  struct TimerKey {
    Timer timer = Timer::fill;
    NodeId node;
    auto operator<=>(const TimerKey&) const = default;
  };

  bool is_self(const Contact& contact) const;
  void add_neighbour(const Contact& contact, MonoTime now, Effects& effects);
  void drop_random_neighbour(MonoTime now, Effects& effects);
  bool remove_neighbour(const NodeId& node, MonoTime now);
  void remember_lost(const Contact& contact, MonoTime now);
  void ask(const Contact& contact, bool urgent, MonoTime now, Effects& effects);
  void refused(const Contact& from, MonoTime now);
  void give_up(const NodeId& node, MonoTime now);
  void end_walk(const ForwardJoin& forward, MonoTime now, Effects& effects);

  std::size_t missing() const;
  void wish_to_fill(MonoTime now);
  void fill(Now now, Effects& effects);
  std::vector<Contact> candidates(MonoTime now);
  void join(Now now, Effects& effects);
  void confirm(Now now, Effects& effects);
  void mix(Now now, Effects& effects);
  void reach_out(MonoTime now);
  MonoTime about(MonoTime now, Duration later);

  ViewsConfig config_;
  Contact self_;
  Prng prng_;
  std::vector<Contact> active_;
  std::vector<Contact> passive_;
  std::vector<Contact> seeds_;
  std::vector<Contact> lost_;           ///< Oldest first.
  std::map<NodeId, Contact> asked_;     ///< Replies awaited.
  std::map<NodeId, MonoTime> refused_;  ///< When each said no.
  std::vector<Contact> reach_outs_;
  TimerQueue<TimerKey> timers_;
  Duration fill_pause_;
  Duration join_pause_;
  Duration mix_pause_;
  Duration reach_out_pause_;
  std::size_t next_seed_ = 0;
  std::size_t next_confirmed_ = 0;
  bool changed_ = false;
};

}  // namespace abacus
