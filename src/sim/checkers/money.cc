// Adds up each receipt again, from the metered spans on the seller's disk and from what both sides said.
#include "sim/checkers/money.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/int128.h"
#include "sim/simulation.h"

namespace abacus::sim {
namespace {

/// Each span's part of a micro-credit counts as a whole one.
Int128 owed_for(const SoldLeaseRecord& sold, WallTime closed_at) {
  constexpr Int128 kNsPerS = 1'000'000'000;
  Int128 owed = 0;
  for (std::size_t i = 0; i < sold.spans.size(); ++i) {
    WallTime end = i + 1 < sold.spans.size() ? sold.spans[i + 1].from : closed_at;
    Int128 ns = std::max<std::int64_t>(end.ns - sold.spans[i].from.ns, 0);
    owed += (ns * sold.slots * sold.spans[i].price.micro_per_s + kNsPerS - 1) / kNsPerS;
  }
  return owed;
}

}  // namespace

void MoneyChecker::on_effect(const Simulation& simulation, NodeIndex node, const Effect& effect) {
  const auto* send = std::get_if<Send>(&effect);
  if (send == nullptr) return;
  if (const auto* award = std::get_if<Award>(&send->message)) {
    terms_[award->lease].prices.insert(award->price);
    terms_[award->lease].fees.insert(award->fee);
    terms_[award->lease].named = std::max(terms_[award->lease].named, award->price);
  }
  if (const auto* renew = std::get_if<Renew>(&send->message); renew != nullptr && renew->price) {
    Price& named = terms_[renew->lease].named;
    named = std::max(named, *renew->price);
  }
  if (const auto* renewed = std::get_if<Renewed>(&send->message)) terms_[renewed->lease].prices.insert(renewed->price);
  if (const auto* accept = std::get_if<Accept>(&send->message)) {
    terms_[accept->lease].accepted.emplace(simulation.now_at(node).wall, accept->slots);
  }
  if (const auto* receipt = std::get_if<Receipt>(&send->message)) on_receipt(simulation, node, *receipt);
}

void MoneyChecker::on_receipt(const Simulation& simulation, NodeIndex seller, const Receipt& receipt) {
  auto [first, fresh] = receipts_.emplace(receipt.lease, receipt);
  if (!fresh && first->second != receipt) {
    violated(simulation,
             fmt::format("the receipt of lease {} changed: {} was owed, now {}", receipt.lease.short_string(),
                         to_string(first->second.owed), to_string(receipt.owed)));
  }
  if (!fresh) return;
  auto sold = simulation.disk(seller).read<SoldLeaseRecord>(receipt.lease);
  if (!sold || sold->spans.empty()) {
    return violated(simulation, fmt::format("node {} sends a receipt of lease {}, which its disk does not know", seller,
                                            receipt.lease.short_string()));
  }
  check_terms(simulation, receipt, *sold);
}

void MoneyChecker::check_terms(const Simulation& simulation, const Receipt& receipt, const SoldLeaseRecord& sold) {
  auto wrong = [&](const std::string& what) {
    violated(simulation, fmt::format("the receipt of lease {} {}", receipt.lease.short_string(), what));
  };
  const Terms& terms = terms_[receipt.lease];
  for (const MeteredSpan& span : sold.spans) {
    if (!terms.prices.contains(span.price))
      wrong(fmt::format("bills {}, which nobody agreed to", to_string(span.price)));
    if (span.price > terms.named)
      wrong(fmt::format("bills {}, and its buyer named {} at most", to_string(span.price), to_string(terms.named)));
  }
  if (!terms.fees.contains(sold.fee)) wrong("bills a fee that nobody agreed to");
  if (!terms.accepted.contains({sold.opened_at, sold.slots})) wrong("begins at another time than its accept said");
  Int128 fees = static_cast<Int128>(sold.fee.micro) * receipt.tasks_ended;
  Int128 owed = owed_for(sold, receipt.closed_at) + fees;
  if (owed != receipt.owed.micro) {
    wrong(fmt::format("says {} are owed, and {} micro-credits are", to_string(receipt.owed),
                      static_cast<std::int64_t>(owed)));
  }
}

void MoneyChecker::at_end(const Simulation& simulation) {
  for (NodeIndex i = 0; i < simulation.size(); ++i) check_books(simulation, i);
}

void MoneyChecker::check_books(const Simulation& simulation, NodeIndex buyer) {
  std::map<JobId, std::int64_t> owed;
  for (const ReceiptRecord& booked : simulation.disk(buyer).all<ReceiptRecord>()) {
    if (booked.buyer != simulation.id_of(buyer)) continue;
    owed[booked.receipt.job] += booked.receipt.owed.micro;
    std::optional<NodeIndex> seller = simulation.index_of(booked.seller);
    auto sold = seller ? simulation.disk(*seller).read<ReceiptRecord>(booked.receipt.lease) : std::nullopt;
    if (!sold || sold->receipt != booked.receipt) {
      violated(simulation, fmt::format("node {} books lease {} other than its seller does", buyer,
                                       booked.receipt.lease.short_string()));
    }
  }
  for (const auto& [job, micro] : owed) {
    auto record = simulation.disk(buyer).read<JobRecord>(job);
    if (!record || record->spec.budget || record->spent.micro == micro) continue;
    violated(simulation, fmt::format("job {} was charged {}, its receipts come to {} micro-credits", job.to_string(),
                                     to_string(record->spent), micro));
  }
}

}  // namespace abacus::sim
