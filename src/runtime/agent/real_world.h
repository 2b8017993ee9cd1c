// The world of an agent: each effect to the part of the runtime that carries it out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/driver/world.h"
#include "runtime/agent/ports.h"
#include "runtime/agent/results.h"
#include "runtime/agent/runs.h"
#include "runtime/net/keys.h"
#include "runtime/net/transport.h"
#include "runtime/store/group_committer.h"

namespace abacus {

/// Routes, nothing else. Everything on the loop's thread; what is pointed to outlives it.
class RealWorld final : public World {
 public:
  struct Parts {
    explicit Parts(const KeyPair& node_key) : key(node_key) {}

    KeyPair key;
    GroupCommitter* journal = nullptr;
    Runs* runs = nullptr;
    Results* results = nullptr;
    std::function<void(Status)> on_committed;  ///< Called on the loop's thread.
    std::function<void(Answer)> on_answer;
    std::function<void(const JobId&)> on_change;         ///< A job or one of its tasks changed.
    std::function<Endpoint(const NodeId&)> endpoint_of;  ///< From the overlay; port 0 if unknown.
  };

  RealWorld(AgentPorts ports, Parts parts) : ports_(std::move(ports)), parts_(std::move(parts)) {}

  /// Messages can leave from now on; before, they are lost.
  void connect(Transport* transport) { transport_ = transport; }

  void carry_out(Effect effect) override;
  void commit(std::vector<JournalChange> changes) override;
  Result<std::vector<Record>> load() override;

 private:
  void act(Send& send);
  void act(KeepConnections& keep);
  void act(SignOffer& sign);
  void act(CheckOffers& check);
  void act(Answer& answer) { parts_.on_answer(std::move(answer)); }
  void act(TaskChanged& changed) { parts_.on_change(changed.task.job); }
  void act(JobChanged& changed) { parts_.on_change(changed.job); }
  void act(Log& log);
  void act(FetchOutputs& fetch) { parts_.results->act(fetch); }
  template <class E>
  requires requires(Runs& runs, const E& effect) { runs.act(effect); }
  void act(E& effect) { parts_.runs->act(effect); }

  AgentPorts ports_;
  Parts parts_;
  Transport* transport_ = nullptr;
  std::set<NodeId> kept_;
};

}  // namespace abacus
