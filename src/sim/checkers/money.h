// Invariant: money owed equals time metered at the agreed price, to the micro-credit, on both sides.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/money.h"
#include "sim/observer.h"

namespace abacus::sim {

/// A receipt bills the slots accepted, from the moment of the accept, at the prices awarded and renewed, none dearer
/// than what the buyer named, with the fee for every task; it never changes when it is repeated; its buyer books the
/// same one, and charges the job that. Leases with the own node need no messages: of those only the books are compared.
class MoneyChecker final : public Checker {
 public:
  std::string name() const override { return "money owed equals time metered at the agreed price"; }
  void on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) override;
  void at_end(const Simulation& simulation) override;

 private:
  /// What was said about a lease; a seller that forgot it in a crash may have said it twice.
  struct Terms {
    std::set<Price> prices;
    Price named{INT64_MIN};  ///< The dearest that the buyer named.
    std::set<Money> fees;
    std::set<std::pair<WallTime, std::uint32_t>> accepted;  ///< When, how many slots.
  };

  void on_receipt(const Simulation& simulation, NodeIndex seller, const Receipt& receipt);
  void check_terms(const Simulation& simulation, const Receipt& receipt, const SoldLeaseRecord& sold);
  void check_books(const Simulation& simulation, NodeIndex buyer);

  std::map<LeaseId, Terms> terms_;
  std::map<LeaseId, Receipt> receipts_;
};

}  // namespace abacus::sim
