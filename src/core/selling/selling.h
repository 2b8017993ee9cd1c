// The selling side of a node: quotes its free slots, leases them, runs what comes, settles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.h"
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/model/views.h"
#include "core/selling/leases.h"
#include "core/selling/quote_desk.h"
#include "core/selling/room.h"
#include "core/selling/selling_config.h"

namespace abacus {

/// Deterministic; one thread. Nothing that a peer sends can stop it: what makes no sense is declined, refused, reported
/// as unknown or ignored. After a crash: construct with the same configuration, restore the records in any order, call
/// restored, and hand in RunsAdopted when the executor has looked. On a first start: restored with nothing before.
class Selling {
 public:
  /// `multiplier_permille`: of the price, from the last run; 1000 on a first start.
  Selling(const SellingConfig& config, const PricingConfig& pricing, const Contact& self, const OrgId& organisation,
          std::string region, Capacity capacity, Prng prng, std::uint32_t multiplier_permille);
  Selling(const Selling&) = delete;
  Selling& operator=(const Selling&) = delete;

  void restore(const SoldLeaseRecord& record) { leases_.restore(record); }
  void restore(const RunRecord& record) { leases_.restore(record); }
  void restored(Now now, Effects& fx);

  // ---- messages: from is whom the transport vouches for ----
  /// `referrals`: other holders of a rare class of device, to be named in a decline.
  void on(const Contact& from, const TraceContext& trace, const Rfq& rfq, const std::vector<OfferRef>& referrals,
          Now now, Effects& fx);
  void on(const Contact& from, const OrgId& organisation, const TraceContext& trace, const Award& award, Now now,
          Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Start& start, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const DoneAck& ack, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Interrupt& interrupt, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const LeaseBeat& beat, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Renew& renew, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const Release& release, Now now, Effects& fx);
  void on(const Contact& from, const TraceContext& trace, const ReceiptAck& ack, Now now, Effects& fx);

  // ---- other events ----
  void on(const InputsStaged& staged, Now now, Effects& fx);
  void on(const ProcessStarted& started, Now now, Effects& fx);
  void on(const ProcessEnded& ended, Now now, Effects& fx);
  void on(const LeaseProcessLost& lost, Now now, Effects& fx);
  void on(const RunsAdopted& adopted, Now now, Effects& fx);
  void on(const CapacityProbed& probed, Now now, Effects& fx);
  /// Answered, unless `request` is 0. Running leases go on to their ends and are not extended.
  void on(const Drain& drain, Now now, Effects& fx);
  /// No new work from here on; what runs stays with its shims.
  void on(const Leaving& leaving, Now now, Effects& fx);

  std::optional<MonoTime> next_wake() const;
  void on_wake(Now now, Effects& fx);

  SellingView view(Now now) const;
  const Capacity& capacity() const { return room_.capacity(); }
  const Capacity& free() const { return room_.free(); }
  /// Buyers of leases that are not settled yet, in order of node id.
  std::vector<Contact> counterparties() const { return leases_.counterparties(); }
  /// Fills in quotes_sent, declines_sent, processes_started and processes_ended.
  Counters counters() const;
  std::uint32_t multiplier_permille() const { return desk_.multiplier().permille(); }
  bool draining() const { return draining_; }

 private:
  bool takes_work() const { return !draining_ && !leaving_; }
  std::optional<DeclineDetail> objection(const Contact& from, const Award& award, Now now);
  void refuse(const Contact& to, const TraceContext& trace, const Award& award, DeclineDetail detail, Now now,
              Effects& fx);
  void lease_out(const OrgId& organisation, const TraceContext& trace, const Award& award, std::uint32_t slots, Now now,
                 Effects& fx);
  /// What follows from a change of what is held.
  void follow(Now now, Effects& fx);
  void call_back(Now now, Effects& fx);

  SellingConfig config_;
  Room room_;
  QuoteDesk desk_;
  Leases leases_;
  bool draining_ = false;
  bool leaving_ = false;
  std::uint64_t declines_sent_ = 0;
};

}  // namespace abacus
