// Who lives on a machine under test: writes down what the world tells it, and asks of the world what a test wants.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/driver/world.h"

namespace abacus::conformance {

/// Stands where the driver of the shipped node would. That a world calls back later, and never from within what is
/// asked of it, is checked at every call.
class Notebook final : public Inhabitant {
 public:
  explicit Notebook(World& world) : world_(world) {}

  Status start(Now now) override;
  void post(Event event) override;
  bool run(Now now) override;
  Status committed(const Status& outcome, Now now) override;

  /// The time given to `wake_at` until it has come; otherwise every now and then.
  std::optional<MonoTime> next_wake() const override;

  void ask(Effect effect);
  /// Not while a commit is out.
  void commit(std::vector<JournalChange> changes);
  std::vector<Record> load();
  /// The world learns of it after the next turn.
  void wake_at(MonoTime at) { wish_ = at; }

  /// In the order of their arrival.
  const std::vector<Event>& events() const { return events_; }
  /// Those of a kind, in the order of their arrival.
  template <class E>
  std::vector<E> heard() const {
    std::vector<E> found;
    for (const Event& event : events_) {
      if (const E* one = std::get_if<E>(&event)) found.push_back(*one);
    }
    return found;
  }
  /// Of all commits that were answered, in order.
  const std::vector<Status>& outcomes() const { return outcomes_; }
  /// The clocks as each turn showed them, the start first.
  const std::vector<Now>& turns() const { return turns_; }

 private:
  void note(Now now);

  World& world_;
  std::vector<Event> events_;
  std::vector<Status> outcomes_;
  std::vector<Now> turns_;
  std::optional<MonoTime> wish_, wake_at_;
  bool commit_out_ = false;
  bool asking_ = false;
};

}  // namespace abacus::conformance
