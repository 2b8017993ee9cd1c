// Soft effects leave after each event; held ones wait for the commit that carries their changes.
#include "core/driver/driver.h"

#include <utility>

#include "base/check.h"

namespace abacus {

Status Driver::start(Now now) {
  node_.reset();
  TRY(std::vector<Record> records, world_.load());
  node_ = std::make_unique<Node>(config_, records);
  Effects effects;
  node_->start(now, effects);
  if (recorder_ != nullptr) recorder_->started(config_, records, now, effects);
  gathering_.append(std::move(effects));
  release_soft();
  begin_commit();
  return {};
}

bool Driver::run(Now now, std::size_t events_max) {
  if (!node_) return false;
  if (auto wake = node_->next_wake(); wake && *wake <= now.mono) {
    handle(WakeUp{}, now);
  }
  for (std::size_t handled = 0; handled < events_max && !inbox_.empty(); ++handled) {
    Event event = std::move(inbox_.front());
    inbox_.pop_front();
    handle(event, now);
  }
  begin_commit();
  return !inbox_.empty();
}

void Driver::handle(const Event& event, Now now) {
  if (recorder_ == nullptr) {
    node_->handle(event, now, gathering_);
  } else {
    Effects effects;
    node_->handle(event, now, effects);
    recorder_->handled(event, now, effects);
    gathering_.append(std::move(effects));
  }
  ++events_handled_;
  release_soft();
}

void Driver::release_soft() {
  release(gathering_.now);
  gathering_.now.clear();
}

void Driver::release(std::vector<Effect>& effects) {
  for (Effect& effect : effects) {
    auto* send = std::get_if<Send>(&effect);
    if (send != nullptr && send->to.node == config_.self.node) {
      post(MessageReceived{config_.self, config_.organisation, send->trace, std::move(send->message)});
    } else {
      world_.carry_out(std::move(effect));
    }
  }
}

void Driver::begin_commit() {
  if (commit_out_) return;
  if (gathering_.changes.empty()) {
    // Nothing to wait for: what is held depends on changes that are durable already.
    std::vector<Effect> held = std::exchange(gathering_.held, {});
    release(held);
    return;
  }
  committing_ = std::exchange(gathering_.held, {});
  commit_out_ = true;
  ++commits_;
  world_.commit(std::exchange(gathering_.changes, {}));
}

Status Driver::committed(const Status& outcome, Now now) {
  CHECK_MSG(commit_out_, "no commit is out");
  commit_out_ = false;
  if (!outcome) {
    committing_.clear();
    inbox_.clear();
    gathering_ = {};
    return start(now);
  }
  std::vector<Effect> durable = std::exchange(committing_, {});
  release(durable);
  begin_commit();
  return {};
}

}  // namespace abacus
