// The store as core sees it: World::commit and World::load.
//
// A transaction is durable as a whole or not at all, and is answered once, by Inhabitant::committed. Those answered as
// done are there after any crash; the one that was not answered may be there, whole, or not. Within a transaction the
// changes apply in their order, the last one of a key counts; erasing what is not there is no error, nor is nothing at
// all. A transaction that failed leaves nothing, and later ones can succeed once `load` was called. `load` gives every
// record once, by kind and then by the bytes of the key.
#pragma once

#include <memory>
#include <vector>

#include "machines.h"

namespace abacus::conformance {

/// One machine's store.
class StorePort {
 public:
  explicit StorePort(std::unique_ptr<Machines> machines) : machines_(std::move(machines)) {}

  Machines& machines() { return *machines_; }

  /// Commits and waits for the answer.
  Status commit(std::vector<JournalChange> changes) {
    Notebook& notebook = machines_->at(0);
    std::size_t before = notebook.outcomes().size();
    notebook.commit(std::move(changes));
    EXPECT_TRUE(machines_->until([&] { return notebook.outcomes().size() > before; })) << "no answer";
    return notebook.outcomes().size() > before ? notebook.outcomes().back() : fail(ErrorCode::timed_out, "no answer");
  }

  void restart() {
    machines_->stop(0);
    machines_->start(0);
  }

  /// What is durable, each record in its encoded form.
  std::vector<Bytes> content() {
    std::vector<Bytes> rows;
    for (const Record& record : machines_->at(0).load()) {
      rows.push_back(std::visit([](const auto& one) { return encode(one); }, record));
    }
    return rows;
  }

 private:
  std::unique_ptr<Machines> machines_;
};

}  // namespace abacus::conformance
