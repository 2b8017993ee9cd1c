// What events, effects and records are called: their types' names, which Boost.Describe does not give out.
#include <iterator>

#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/model/records.h"

namespace abacus {

const char* name_of(const Event& event) {
  static constexpr const char* kNames[] = {
      "MessageReceived", "PeerLost",     "WakeUp",           "OfferSigned", "OffersChecked",  "CapacityProbed",
      "ContactsGiven",   "SubmitJob",    "CancelJob",        "PlanJob",     "Drain",          "InputsStaged",
      "ProcessStarted",  "ProcessEnded", "LeaseProcessLost", "RunsAdopted", "OutputsFetched", "Leaving"};
  static_assert(std::size(kNames) == std::variant_size_v<Event>);
  return kNames[event.index()];
}

const char* name_of(const Effect& effect) {
  static constexpr const char* kNames[] = {
      "Send",        "KeepConnections", "SignOffer", "CheckOffers",      "AdoptRuns",     "OpenLease",    "ExtendLease",
      "CloseLease",  "StageInputs",     "Launch",    "InterruptProcess", "ForgetAttempt", "FetchOutputs", "Answer",
      "TaskChanged", "JobChanged",      "Log"};
  static_assert(std::size(kNames) == std::variant_size_v<Effect>);
  return kNames[effect.index()];
}

const char* name_of_record(std::uint16_t kind) {
  static constexpr const char* kNames[] = {"NodeRecord",      "JobRecord", "TaskRecord",   "BoughtLeaseRecord",
                                           "SoldLeaseRecord", "RunRecord", "ReceiptRecord"};
  static_assert(std::size(kNames) == std::variant_size_v<Record>);
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

}  // namespace abacus
