// Soft effects leave after each event; held ones wait for the commit that carries their changes.
#include "core/driver/driver.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/model/record_reader.h"

namespace abacus {
namespace {

constexpr std::size_t kEventsPerRun = 256;
constexpr Duration kFirstPause = milliseconds(100), kLongestPause = seconds(10);

}  // namespace

Status Driver::start(Now now) {
  TRY_STATUS(rebuild());
  go_on(now);
  return {};
}

Status Driver::rebuild() {
  node_.reset();
  TRY(std::vector<Record> records, world_.load());
  TRY_STATUS(check_whole(records));
  node_ = std::make_unique<Node>(config_, records);
  if (recorder_ != nullptr) restored_from_ = std::move(records);
  return {};
}

void Driver::go_on(Now now) {
  goes_on_at_.reset();
  node_->start(now, of_event_);
  if (recorder_ != nullptr) recorder_->started(config_, std::exchange(restored_from_, {}), now, of_event_);
  gathering_.append(of_event_);
  release_soft();
  if (!contacts_.empty()) handle(ContactsGiven{std::exchange(contacts_, {})}, now);
  begin_commit();
}

void Driver::keep_contacts() {
  const Overlay& overlay = node_->overlay();
  contacts_.clear();
  for (const auto* known : {&overlay.seeds(), &overlay.neighbours(), &overlay.passive_contacts()}) {
    contacts_.insert(contacts_.end(), known->begin(), known->end());
  }
}

std::optional<MonoTime> Driver::next_wake() const {
  if (!node_) return std::nullopt;
  return goes_on_at_ ? goes_on_at_ : node_->next_wake();
}

bool Driver::run(Now now) {
  if (!node_ || (goes_on_at_ && now.mono < *goes_on_at_)) return false;
  if (goes_on_at_) go_on(now);
  if (auto wake = node_->next_wake(); wake && *wake <= now.mono) {
    handle(WakeUp{}, now);
  }
  for (std::size_t handled = 0; handled < kEventsPerRun && !inbox_.empty(); ++handled) {
    Event event = std::move(inbox_.front());
    inbox_.pop_front();
    handle(event, now);
  }
  begin_commit();
  return !inbox_.empty();
}

void Driver::handle(const Event& event, Now now) {
  node_->handle(event, now, of_event_);
  if (recorder_ != nullptr) recorder_->handled(event, now, of_event_);
  gathering_.append(of_event_);
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
    keep_contacts();
    goes_on_at_ =
        now.mono + std::min(kFirstPause * (std::int64_t{1} << std::min(failed_commits_++, 20u)), kLongestPause);
    return rebuild();
  }
  failed_commits_ = 0;
  std::vector<Effect> durable = std::exchange(committing_, {});
  release(durable);
  begin_commit();
  return {};
}

}  // namespace abacus
