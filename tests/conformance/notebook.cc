// Every call of the world leaves a note; a call out of turn is a failure of the test.
#include "notebook.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/check.h"

namespace abacus::conformance {
namespace {

constexpr Duration kNowAndThen = milliseconds(5);

}  // namespace

void Notebook::note(Now now) {
  EXPECT_FALSE(asking_) << "the world calls back from within what was asked of it";
  turns_.push_back(now);
}

Status Notebook::start(Now now) {
  note(now);
  return {};
}

void Notebook::post(Event event) {
  EXPECT_FALSE(asking_) << name_of(event) << " is posted from within what was asked";
  events_.push_back(std::move(event));
}

bool Notebook::run(Now now) {
  note(now);
  if (wake_at_ && *wake_at_ <= now.mono) wake_at_.reset();
  if (wish_) wake_at_ = std::exchange(wish_, std::nullopt);
  return false;
}

Status Notebook::committed(const Status& outcome, Now now) {
  note(now);
  EXPECT_TRUE(commit_out_) << "a commit is answered twice";
  commit_out_ = false;
  outcomes_.push_back(outcome);
  return {};
}

std::optional<MonoTime> Notebook::next_wake() const { return wake_at_ ? *wake_at_ : turns_.back().mono + kNowAndThen; }

void Notebook::ask(Effect effect) {
  asking_ = true;
  world_.carry_out(std::move(effect));
  asking_ = false;
}

void Notebook::commit(std::vector<JournalChange> changes) {
  CHECK_MSG(!commit_out_, "a commit is out");
  commit_out_ = asking_ = true;
  world_.commit(std::move(changes));
  asking_ = false;
}

std::vector<Record> Notebook::load() {
  auto records = world_.load();
  EXPECT_TRUE(records.has_value()) << records.error().message;
  return records ? std::move(*records) : std::vector<Record>{};
}

}  // namespace abacus::conformance
